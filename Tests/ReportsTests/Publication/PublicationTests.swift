import Foundation
@testable import Reports
import TestSupport
import Testing
import Domain

@Suite struct PublicationTests {
  let folder: TemporaryFolder
  let out: String

  init() throws {
    folder = try TemporaryFolder()
    out = folder.path("reports")
  }

  @Test("A first set appears with its manifest and valid checksums")
  func firstSet() throws {
    let publication = try publishSet(
      ["churn_monthly.csv": "a\n", "charges/2026-11.csv": "b\n"], to: out)
    #expect(publication.route == .atOnce)
    #expect(
      publication.changed == ["charges/2026-11.csv", "churn_monthly.csv", "datapackage.json"])
    #expect(try checksumsHold(in: out))
    let sums = try text("SHA256SUMS").split(separator: "\n").map { String($0.dropFirst(66)) }
    #expect(sums == ["charges/2026-11.csv", "churn_monthly.csv", "datapackage.json"])
    #expect(try publishedSet(in: out)?.count == 64)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["reports"])
  }

  @Test("Unchanged files keep their inode when the folder is exchanged")
  func carriedOver() throws {
    try publishSet(["breaks.csv": "1\n", "breaks_history.csv": "1\n"], to: out)
    let before = try (inode("breaks.csv"), inode("breaks_history.csv"))
    let publication = try publishSet(["breaks.csv": "1\n", "breaks_history.csv": "2\n"], to: out)
    #expect(publication.route == .atOnce)
    #expect(publication.changed == ["breaks_history.csv", "datapackage.json"])
    #expect(try inode("breaks.csv") == before.0)
    #expect(try inode("breaks_history.csv") != before.1)
    #expect(try text("breaks_history.csv") == "2\n")
    #expect(try checksumsHold(in: out))
  }

  @Test("Other existing files to be synced are synced before the set is visible")
  func syncedBeside() throws {
    let staging = try stage(["breaks.csv": "1\n"], for: out)
    try folder.write("log", to: "ledger-wal")
    let manifest = Manifest(version: "1", asOf: Instant(milliseconds: 0), timeZone: "UTC")
    var synced: [String] = []
    let others = ["ledger-wal", "missing"].map { folder.path($0) }
    _ = try publish(staging, manifest: manifest, syncing: others) {
      paths, work throws(SubledgerError) in
      if !FileManager.default.fileExists(atPath: out) { synced += paths }
      for path in paths { try work(path) }
    }
    #expect(synced.contains(folder.path("ledger-wal")))
    #expect(!synced.contains(folder.path("missing")))
  }

  @Test("Publishing the same set again changes nothing")
  func unchanged() throws {
    try publishSet(["breaks.csv": "1\n"], to: out)
    let sums = try text("SHA256SUMS")
    let before = try FileManager.default.attributesOfItem(atPath: out)[.systemFileNumber] as? Int
    let second = try publishSet(["breaks.csv": "1\n"], to: out)
    #expect(second.route == .unchanged)
    #expect(second.changed.isEmpty)
    #expect(try text("SHA256SUMS") == sums)
    let after = try FileManager.default.attributesOfItem(atPath: out)[.systemFileNumber] as? Int
    #expect(before == after)
  }

  @Test("A published file that was changed is restored")
  func repaired() throws {
    try publishSet(["breaks.csv": "1\n"], to: out)
    try folder.write("9\n", to: "reports/breaks.csv")
    #expect(try publishSet(["breaks.csv": "1\n"], to: out).changed == ["breaks.csv"])
    #expect(try text("breaks.csv") == "1\n")
  }

  @Test("Files no longer produced vanish with their folder; foreign files stay")
  func foreignFiles() throws {
    try publishSet(["breaks.csv": "1\n", "charges/2026-10.csv": "1\n"], to: out)
    try folder.write("mine\n", to: "reports/notes.txt")
    try folder.write("mine\n", to: "reports/plots/plot.svg")
    let inode = try inode("notes.txt")
    let publication = try publishSet(["breaks.csv": "2\n"], to: out)
    #expect(publication.route == .atOnce)
    #expect(!FileManager.default.fileExists(atPath: out + "/charges"))
    #expect(try text("notes.txt") == "mine\n")
    #expect(try text("plots/plot.svg") == "mine\n")
    #expect(try self.inode("notes.txt") == inode)
    #expect(try checksumsHold(in: out))
  }

  @Test("A non-empty folder that was never published to is filled file by file")
  func neverPublishedTo() throws {
    try folder.write("mine\n", to: "reports/notes.txt")
    let publication = try publishSet(["breaks.csv": "1\n", "charges/x.csv": "1\n"], to: out)
    #expect(publication.route == .oneByOne)
    #expect(try text("notes.txt") == "mine\n")
    #expect(try checksumsHold(in: out))
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["reports"])
  }

  @Test("A link to a folder stays a link")
  func link() throws {
    try folder.write("", to: "real/keep")
    try FileManager.default.removeItem(atPath: folder.path("real/keep"))
    try FileManager.default.createSymbolicLink(atPath: out, withDestinationPath: "real")
    try publishSet(["breaks.csv": "1\n"], to: out + "/")
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: out) == "real")
    #expect(FileManager.default.fileExists(atPath: folder.path("real/breaks.csv")))
  }

  @Test("Checksums with paths out of the folder never remove a file")
  func hostileChecksums() throws {
    try folder.write("mine\n", to: "precious.txt")
    try publishSet(["breaks.csv": "1\n"], to: out)
    let hash = String(repeating: "0", count: 64)
    let sums = try text("SHA256SUMS")
    try folder.write(sums + "\(hash)  ../precious.txt\n", to: "reports/SHA256SUMS")
    try publishSet(["breaks.csv": "2\n"], to: out)
    #expect(FileManager.default.fileExists(atPath: folder.path("precious.txt")))
  }

  @Test("A file in place of the folder is an error that names it")
  func notAFolder() throws {
    try folder.write("", to: "reports")
    let error = try #require(throws: SubledgerError.self) {
      try Staging.begin(for: out)
    }
    #expect(error.kind == .cannotCreate)
    #expect(error.message.contains(out))
    #expect(!error.hint.isEmpty)
  }

  @Test("A folder below a file cannot be created")
  func belowAFile() throws {
    try folder.write("", to: "file")
    let error = try #require(throws: SubledgerError.self) {
      try Staging.begin(for: folder.path("file/reports"))
    }
    #expect(error.kind == .cannotCreate)
  }

  @Test("Discarding a staged set leaves the published one unchanged")
  func discarded() throws {
    try publishSet(["breaks.csv": "1\n"], to: out)
    let staging = try stage(["breaks.csv": "2\n"], for: out)
    try staging.discard()
    #expect(try text("breaks.csv") == "1\n")
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["reports"])
  }

  @Test("Leftovers of a killed run next to the set are removed")
  func deadRun() throws {
    try folder.write("half", to: ".reports.staging-999999/breaks.csv")
    try publishSet(["breaks.csv": "1\n"], to: out)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["reports"])
  }

  private func text(_ name: String) throws -> String {
    try String(contentsOfFile: out + "/" + name, encoding: .utf8)
  }

  private func inode(_ name: String) throws -> Int {
    let attributes = try FileManager.default.attributesOfItem(atPath: out + "/" + name)
    return try #require(attributes[.systemFileNumber] as? Int)
  }
}

/// The reports of these tests' sets.
@discardableResult
func publishSet(_ files: [String: String], to out: String) throws -> Publication {
  try publish(try stage(files, for: out), manifest: manifest(of: files))
}

/// Writes files, by their paths, to be published in `out`.
func stage(_ files: [String: String], for out: String) throws -> Staging {
  let staging = try Staging.begin(for: out)
  for (path, text) in files {
    let url = URL(fileURLWithPath: staging.path + "/" + path)
    try FileManager.default.createDirectory(
      at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(text.utf8).write(to: url)
  }
  return staging
}

func manifest(of files: [String: String]) -> Manifest {
  var manifest = Manifest(version: "1.0.0", asOf: Instant(seconds: 0), timeZone: "UTC")
  let column = ReportColumn(
    name: "a", format: .integer, unit: "charges", description: "Charges.", isKey: true,
    addition: .sum)
  manifest.resources = files.keys.map { ReportTable(path: $0, rows: 0, columns: [column]) }
  return manifest
}

func checksumsHold(in folder: String) throws -> Bool {
  try execute(["sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS"], in: folder).status == 0
}

/// Publishes the files in `staging` with their manifest and checksums.
func publish(
  _ staging: Staging, manifest: Manifest, syncing others: [String] = [],
  each: ForEachPath = oneAfterTheOther
) throws(SubledgerError) -> Publication {
  try publish(try staging.sealed(by: manifest), syncing: others, each: each)
}
