import Domain
import Formats
import Foundation

/// The work of a process with rows from standard input, in a run on Apache Spark.
public enum Stage: String, CaseIterable, Sendable {
  /// Converts files to rows of their events and of the counts of their lines.
  case normalise
  /// Merges events of users and writes the results of those that are not new.
  case merge
  /// Folds events of users to cells, charges and breaks of events.
  case fold
  /// Compares events and snapshots of users and writes breaks, with the amounts of all users.
  case reconcile
}

/// The input of a stage besides its rows, written by the driver and sent with the program.
struct StageJob: Codable, Sendable {
  /// Version of the rows' format; a stage refuses others.
  static let formatVersion = 1

  var format = StageJob.formatVersion
  /// The given settings, with the names of files that are also added.
  var flags: [String: [String]]
  var environment: [String: String]
  /// The driver's clock, in milliseconds.
  var now: Instant
  /// The name of a copy of the ledger, which is also added.
  var ledger: String
  /// Groups whose events alone may prove that one is missing.
  var proving: Set<Int64> = []
}

/// An `ArchiveMessage` for the driver, without the events of a batch.
enum ArchiveNote: Codable {
  case opened(ArchiveOpening)
  case batch(lines: Int64, skipped: [String: Int64], [Reject], UnknownInput)
  case again, skipped
  case ended(ArchiveEnd)
  case unreadable(SubledgerError), failed(SubledgerError)
}

/// Reads and writes rows: one per line, with fields separated by tabs.
enum StageCoding {
  private static let decoder = JSONDecoder()
  private static let encoder = {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    return encoder
  }()

  /// Encodes a value as a field: JSON contains neither tabs nor line ends.
  static func field(_ value: some Encodable) throws -> String {
    String(decoding: try encoder.encode(value), as: UTF8.self)
  }

  static func value<Value: Decodable>(_ type: Value.Type, _ field: Substring) throws -> Value {
    try decoder.decode(type, from: Data(field.utf8))
  }
}

/// Splits a row into fields, by bytes: splitting by characters takes ten times as long.
private func fields(of row: String) -> [Substring] {
  row.utf8.split(separator: UInt8(ascii: "\t"), omittingEmptySubsequences: false)
    .map(Substring.init)
}

/// Calls `body` with the fields and the number of each row of standard input, from 1.
func forEachRow(_ body: ([Substring], Int) throws -> Void) rethrows {
  var number = 0
  while let row = readLine() {
    number += 1
    try body(fields(of: row), number)
  }
}

/// Calls `body` with the fields of each row of a file.
func forEachRow(of path: String, _ body: ([Substring]) throws -> Void) throws {
  let isRead = try FilePieces(of: path)?.forEachLine {
    try body(fields(of: String(decoding: $0, as: UTF8.self)))
  }
  guard isRead == true else {
    throw SubledgerError(
      .inputOutput, "cannot read \(path)", hint: "check that the lake's folder is mounted here")
  }
}

/// The rows that the processes of a stage wrote, in files of a folder.
struct StageRows {
  let folder: String

  /// Calls `body` with the fields of each row, the kind first.
  func forEachRow(_ body: ([Substring]) throws -> Void) throws {
    let names = try FileManager.default.contentsOfDirectory(atPath: folder)
    for name in names.sorted() where name.hasPrefix("part-") {
      try Pipeline.forEachRow(of: "\(folder)/\(name)", body)
    }
  }

  func remove() throws { try FileManager.default.removeItem(atPath: folder) }

  static func malformed(_ what: String) -> SubledgerError {
    SubledgerError(
      .damagedInput, "cannot read the output of a stage: a row of \(what) is malformed",
      hint: "run again; if it fails again, the workers have another version of the program")
  }
}

func malformedRow(_ number: Int, _ what: String) -> SubledgerError {
  SubledgerError(
    .damagedInput, "row \(number) of standard input is malformed: \(what)",
    hint: "docs/stages.md describes rows of format \(StageJob.formatVersion)")
}
