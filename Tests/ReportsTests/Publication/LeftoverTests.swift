import Domain
import Foundation
import TestSupport
import Testing

@testable import Reports

@Suite("Leftovers that cannot be removed do not prevent publication")
struct LeftoverTests {
  let folder: TemporaryFolder
  let out: String

  init() throws {
    folder = try TemporaryFolder()
    out = folder.path("reports")
  }

  private func text(_ name: String) throws -> String {
    try String(contentsOfFile: "\(out)/\(name)", encoding: .utf8)
  }

  @Test("A previous set that cannot be removed is reported, and the next set removes it")
  func previous() throws {
    try publishSet(["breaks.csv": "1\n"], to: out)
    let staging = try stage(["breaks.csv": "2\n"], for: out)
    let denied = SubledgerError(.permission, "cannot remove", hint: "none")
    let publication = try publish(staging, manifest: manifest(of: ["breaks.csv": ""])) {
      paths, work throws(SubledgerError) in
      if staging.isExchanged { throw denied }
      for path in paths { try work(path) }
    }
    #expect(publication.route == .atOnce)
    #expect(staging.leftovers.map(\.message) == ["cannot remove"])
    #expect(try text("breaks.csv") == "2\n")
    #expect(try checksumsHold(in: out))
    #expect(FileManager.default.fileExists(atPath: staging.path))
  }

  @Test("A foreign folder with the staging name is left alone, and another name is used")
  func takenName() throws {
    let taken = ".reports.staging-\(getpid())"
    try folder.write("theirs\n", to: "\(taken)/breaks.csv")
    let lock = open(folder.path(taken), O_RDONLY | O_DIRECTORY)
    try #require(lock >= 0 && flock(lock, LOCK_EX) == 0)
    try publishSet(["breaks.csv": "1\n"], to: out)
    #expect(try text("breaks.csv") == "1\n")
    #expect(
      try String(contentsOfFile: folder.path("\(taken)/breaks.csv"), encoding: .utf8) == "theirs\n")
    close(lock)
    try publishSet(["breaks.csv": "2\n"], to: out)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["reports"])
  }
}
