import Domain
import Foundation
import Reports
import TestSupport
import Testing

@Suite("Foreign files in the published folder stay")
struct ForeignFileTests {
  let folder: TemporaryFolder
  let out: String

  init() throws {
    folder = try TemporaryFolder()
    out = folder.path("reports")
  }

  private func text(_ path: String) -> String? {
    try? String(contentsOfFile: folder.path(path), encoding: .utf8)
  }

  @Test("Files that arrive in the folder during the exchange move to the new one")
  func arrivals() throws {
    try publishSet(["breaks.csv": "1\n"], to: out)
    for name in ["old", "same"] { try folder.write(name, to: "reports/inbox/\(name)") }
    let staging = try stage(["breaks.csv": "2\n"], for: out)
    let previous = String(staging.path.dropFirst(folder.path.count + 1))
    var isLate = false
    let publication = try publish(staging, manifest: manifest(of: ["breaks.csv": ""])) {
      paths, work throws(SubledgerError) in
      // A folder that was open before the exchange is the old one after it.
      if !isLate, text("reports/breaks.csv") == "2\n" {
        isLate = true
        for name in ["inbox/new", "deep/er/new", "new", "inbox/old"] {
          _ = try? folder.write("late", to: "\(previous)/\(name)")
        }
      }
      for path in paths { try work(path) }
    }
    #expect(publication.route == .atOnce)
    for name in ["inbox/new", "deep/er/new", "new", "inbox/old"] {
      #expect(text("reports/\(name)") == "late", "\(name)")
    }
    #expect(text("reports/inbox/same") == "same")
    #expect(try checksumsHold(in: out))
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["reports"])
  }

  @Test("Files in a folder left by a killed run after the exchange are moved, not removed")
  func died() throws {
    try publishSet(["breaks.csv": "1\n"], to: out)
    let previous = ".reports.staging-999999"
    try FileManager.default.copyItem(atPath: out, toPath: folder.path(previous))
    try folder.write("late", to: "\(previous)/inbox/new")
    try folder.write("was there", to: "\(previous)/notes")
    try FileManager.default.linkItem(
      atPath: folder.path("\(previous)/notes"), toPath: folder.path("moved away"))
    try publishSet(["breaks.csv": "2\n"], to: out)
    #expect(text("reports/inbox/new") == "late")
    #expect(text("reports/notes") == nil)
    #expect(text("reports/breaks.csv") == "2\n")
    #expect(!FileManager.default.fileExists(atPath: folder.path(previous)))
  }

  @Test("Foreign checksums do not make a file part of the set")
  func otherChecksums() throws {
    let hash = String(repeating: "0", count: 64)
    try folder.write("mine", to: "reports/db.dump")
    try folder.write("mine", to: "reports/2025/db.dump")
    try folder.write(
      ["db.dump", "2025/db.dump", "SHA256SUMS"].map { "\(hash)  \($0)\n" }.joined(),
      to: "reports/SHA256SUMS")
    for run in 1...3 {
      try publishSet(["breaks.csv": "\(run)\n"], to: out)
      #expect(text("reports/db.dump") == "mine")
      #expect(text("reports/2025/db.dump") == "mine")
      // Nor do entries added to our checksums.
      let sums = text("reports/SHA256SUMS") ?? ""
      try folder.write(sums + "\(hash)  db.dump\n", to: "reports/SHA256SUMS")
    }
  }

  @Test("A file whose name is not text stays, and the folder is exchanged anyway")
  func noText() throws {
    try publishSet(["breaks.csv": "1\n"], to: out)
    let name = Array(out.utf8) + [0x2f, 0x66, 0xff, 0xfe, 0]
    let file = name.withUnsafeBufferPointer { buffer in
      buffer.withMemoryRebound(to: CChar.self) { text in
        text.baseAddress.map { open($0, O_WRONLY | O_CREAT, 0o644) } ?? -1
      }
    }
    #expect(file >= 0)
    close(file)
    #expect(try publishSet(["breaks.csv": "2\n"], to: out).route == .atOnce)
    let isPresent = name.withUnsafeBufferPointer { buffer in
      buffer.withMemoryRebound(to: CChar.self) { text in
        text.baseAddress.map { access($0, F_OK) } ?? -1
      }
    }
    #expect(isPresent == 0)
  }
}
