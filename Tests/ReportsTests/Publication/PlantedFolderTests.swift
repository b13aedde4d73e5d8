import Domain
import Foundation
import Glibc
import TestSupport
import Testing

@testable import Reports

@Suite("Planted files and links never lead a run to other files")
struct PlantedFolderTests {
  let folder: TemporaryFolder
  let out: String

  init() throws {
    folder = try TemporaryFolder()
    out = folder.path("reports")
    try folder.write("mine", to: "elsewhere/2026-10.csv")
    try folder.write("mine", to: "elsewhere/tree/file")
    try publishSet(["breaks.csv": "1\n", "charges/2026-10.csv": "1\n"], to: out)
  }

  private func text(_ path: String) -> String? {
    try? String(contentsOfFile: folder.path(path), encoding: .utf8)
  }

  private func expectElsewhereWhole() {
    #expect(text("elsewhere/2026-10.csv") == "mine")
    #expect(text("elsewhere/tree/file") == "mine")
  }

  private func link(_ path: String) throws {
    try FileManager.default.createSymbolicLink(
      atPath: folder.path(path), withDestinationPath: folder.path("elsewhere"))
  }

  private func leftovers() throws -> [String] {
    let staging = try Staging.begin(for: out)
    try staging.discard()
    return staging.leftovers.map(\.message)
  }

  private let left = ".reports.staging-1"

  @Test("A link in an apparent leftover is not followed, whatever the checksums name")
  func linkInLeftover() throws {
    let hash = String(repeating: "0", count: 64)
    try folder.write(
      "\(hash)  charges/2026-10.csv\n\(hash)  charges/tree\n", to: "\(left)/SHA256SUMS")
    try link("\(left)/charges")
    try publishSet(["breaks.csv": "2\n"], to: out)
    expectElsewhereWhole()
    #expect(text("reports/breaks.csv") == "2\n")
  }

  @Test("A link in place of a folder of the set is refused, and the set stays")
  func linkInSet() throws {
    try FileManager.default.removeItem(atPath: folder.path("reports/charges"))
    try link("reports/charges")
    let error = #expect(throws: SubledgerError.self) {
      try publishSet(["breaks.csv": "2\n", "charges/2026-10.csv": "2\n"], to: out)
    }
    #expect(error?.kind == .cannotCreate && error?.message.contains("charges is a link") == true)
    expectElsewhereWhole()
    #expect(text("reports/breaks.csv") == "1\n")
  }

  @Test("A link that replaces a folder of the set during a run is not followed")
  func linkMeanwhile() throws {
    let staging = try stage(["breaks.csv": "2\n"], for: out)
    try FileManager.default.removeItem(atPath: folder.path("reports/charges"))
    try link("reports/charges")
    let published = try publish(staging, manifest: manifest(of: ["breaks.csv": ""]))
    #expect(published.route == .atOnce)
    expectElsewhereWhole()
  }

  @Test("From a previous set only files that its checksums name are removed")
  func previous() throws {
    try FileManager.default.copyItem(atPath: out, toPath: folder.path(left))
    #expect(try leftovers() == [])
    #expect(!FileManager.default.fileExists(atPath: folder.path(left)))
    try FileManager.default.copyItem(atPath: out, toPath: folder.path(left))
    try folder.write("other", to: "\(left)/breaks.csv")
    #expect(try leftovers().first?.contains("breaks.csv in it is not as") == true)
    #expect(text("\(left)/breaks.csv") == "other")
    #expect(text("reports/breaks.csv") == "1\n")
  }

  @Test("Foreign files without checksums stay; files of an unfinished set are removed")
  func neverWhole() throws {
    try folder.write("half", to: "\(left)/breaks.csv")
    try folder.write("half", to: "\(left)/charges/2026-10.csv")
    #expect(try leftovers() == [])
    #expect(text("\(left)/breaks.csv") == nil)
    try folder.write("mine", to: "\(left)/diary")
    #expect(try leftovers().first?.contains("files that are not of a set") == true)
    #expect(text("\(left)/diary") == "mine")
  }

  @Test("A second name of a published file that a power cut left is removed, not published")
  func secondName() throws {
    for hasChecksums in [false, true] {
      if hasChecksums {
        try FileManager.default.copyItem(atPath: out, toPath: folder.path(left))
      } else {
        try folder.write("half", to: "\(left)/breaks_history.csv")
      }
      try FileManager.default.linkItem(
        atPath: folder.path("reports/breaks.csv"), toPath: folder.path("\(left)/.carried"))
      #expect(try leftovers() == [])
      #expect(text("\(left)/.carried") == nil && text("reports/.carried") == nil)
      #expect(text("reports/breaks.csv") == "1\n")
    }
  }

  @Test("A folder that others can write to is not removed", arguments: [0o775, 0o757])
  func open(rights: Int) throws {
    try folder.write("half", to: "\(left)/breaks.csv")
    #expect(chmod(folder.path(left), mode_t(rights)) == 0)
    #expect(try leftovers().first?.contains("others may write") == true)
    #expect(text("\(left)/breaks.csv") == "half")
    #expect(chmod(folder.path(left), 0o755) == 0)
    #expect(try leftovers() == [])
  }

  @Test("Publishing file by file follows no link and copies over none")
  func oneByOne() throws {
    try FileManager.default.removeItem(atPath: folder.path("reports/SHA256SUMS"))
    try FileManager.default.removeItem(atPath: folder.path("reports/charges"))
    let files = ["breaks.csv": "2\n", "charges/2026-10.csv": "2\n"]
    let staging = try stage(files, for: out)
    try link("reports/charges")
    let error = #expect(throws: SubledgerError.self) {
      try publish(staging, manifest: manifest(of: files))
    }
    #expect(error?.kind == .cannotCreate)
    expectElsewhereWhole()
  }
}
