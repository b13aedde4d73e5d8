import Domain
import EventStore
import Formats
import Foundation
import Reports

extension RunPipeline {
  /// Verifies a pack on its own.
  ///
  /// - Throws: `SubledgerError` when it is missing or cannot be read, or `stop` returns a signal.
  public static func verify(
    pack file: String, stop: () -> Int32 = { 0 }
  ) throws -> Verification {
    guard FileManager.default.fileExists(atPath: file) else {
      throw SubledgerError(
        .noInput, "there is no pack \(file)", hint: "check the path given with --pack")
    }
    let room = try PrivateFolder()
    var result = Verification()
    var check = CheckResult("pack", unit: "files")
    let names = try unpack(file, into: room, stop, &check)
    guard let names, let root = names.first?.split(separator: "/").first.map(String.init) else {
      if check.outcome == .holds { check.fail("it is not a pack") }
      result.checks.append(check)
      return result
    }
    let folder = "\(room.path("pack"))/\(root)"
    let inside = Set(names.map { String($0.dropFirst(root.utf8.count + 1)) })
    let seen = try inspectSet(in: folder)
    check.count = Int64(names.count)
    for problem in seen.problems { check.fail(problem) }
    for name in inside.subtracting(seen.paths).sorted() where name != "SHA256SUMS" {
      check.fail("\(name) is not listed in any SHA256SUMS")
    }
    check.notes.append("SHA-256 of SHA256SUMS: \(seen.sha256)")
    let set = try inspectSet(in: "\(folder)/reports")
    var reports = CheckResult("set", unit: "files")
    reports.count = Int64(set.paths.count)
    for problem in set.problems { reports.fail(problem) }
    var runs: [Int64: [String: String]] = [:]
    let manifest = unpackedJSON(PackManifest.self, at: "\(folder)/pack.json")
    result.checks = [check, reports, chain(in: folder, manifest, publishing: set.sha256, &runs)]
    let proof = CloseProof(folder: folder, files: inside, manifest: manifest, runs: runs)
    if let close = proof.check() { result.checks.append(close) }
    return result
  }

  private static func unpack(
    _ file: String, into room: borrowing PrivateFolder, _ stop: () -> Int32,
    _ check: inout CheckResult
  ) throws -> [String]? {
    let tar = room.path("pack.tar")
    if let reason = try unpackGzip(file, into: tar, bytesMax: 64 << 30) {
      check.fail("\(file) is not a complete gzip file: \(reason)")
      return nil
    }
    guard let files = try extractTar(tar, into: room.path("pack"), stop) else {
      check.fail("\(file) is not a tar file that `subledger pack` wrote")
      return nil
    }
    for (name, size) in files where size > readWholeMax && isReadWhole(name) {
      check.fail("\(name) is larger than \(readWholeMax >> 20) MiB")
    }
    return check.outcome == .holds ? files.map(\.name) : nil
  }

  /// Whether the proof reads a file of this name into memory: of the set, only the checksums.
  private static func isReadWhole(_ name: String) -> Bool {
    let parts = name.split(separator: "/")
    return parts.count < 2 || parts[1] != "reports" || parts.last == "SHA256SUMS"
  }

  /// Maximum size of such a file in bytes: the chain of decades of runs, or the rows of a month.
  private static let readWholeMax = 64 << 20

  /// Computes every record again, and compares the last run's record with the set and documents of
  /// the pack; returns the facts of each run in `runs`.
  private static func chain(
    in folder: String, _ manifest: PackManifest?, publishing set: String,
    _ runs: inout [Int64: [String: String]]
  ) -> CheckResult {
    var check = CheckResult("chain", unit: "runs")
    let bytes = FileManager.default.contents(atPath: "\(folder)/chain.txt") ?? Data()
    let text = String(decoding: bytes, as: UTF8.self)
    var previous = "none"
    var last: [String: String] = [:]
    for link in text.components(separatedBy: "\n\n") {
      var lines = link.split(separator: "\n").map(String.init)
      guard !lines.isEmpty else {
        check.fail("chain.txt was changed since it was written")
        continue
      }
      let record = lines.removeFirst().replacingOccurrences(of: "record ", with: "")
      let words = lines.map {
        $0.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
      }
      last = Dictionary(words.filter { $0.count == 2 }.map { ($0[0], $0[1]) }) { first, _ in first }
      check.count += 1
      let run = last["run"] ?? "?"
      if let number = Int64(run) { runs[number] = last }
      let facts = lines.joined(separator: "\n") + "\n"
      if sha256(of: Array(facts.utf8)) != record {
        check.fail("run \(run): the record does not match the run")
      }
      if last["previous"] != previous {
        check.fail("run \(run) does not follow the run before it")
      }
      previous = record
    }
    if last["published"] != set {
      check.fail("the set is not the one that run \(last["run"] ?? "?") published")
    }
    let isLast =
      manifest.map {
        last["run"] == "\($0.run)" && last["version"] == $0.version && previous == $0.record
          && $0.published == set && folder.hasSuffix("/\(PackManifest.folder(of: $0.period))")
          && asOf(of: last)?.text == $0.asOf
      } ?? false
    if !isLast { check.fail("pack.json does not name the last run of chain.txt") }
    for (name, file) in [
      ("configuration", "configuration.yaml"), ("prices", "prices.csv"),
      ("decisions", "decisions.yaml"),
    ] {
      let bytes = FileManager.default.contents(atPath: "\(folder)/documents/\(file)")
      let sum = bytes.map { sha256(of: [UInt8]($0)) } ?? "none"
      if last[name] != sum { check.fail("\(file) is not the file that the run used") }
    }
    check.notes.append("record of the last run: \(previous)")
    return check
  }
}
