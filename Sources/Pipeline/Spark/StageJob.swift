import Domain
import EventStore
import Formats
import Foundation

/// What a process does with rows of standard input for a run on Apache Spark.
public enum Stage: String, CaseIterable, Sendable {
  /// Files → rows of their events and of the account of their lines.
  case normalise
  /// Events of users → what became of those that are not new.
  case merge
  /// Events of users → cells, charges and breaks of events.
  case fold
  /// Events and snapshots of users → breaks, by the amounts of all.
  case reconcile
}

/// All that a stage needs besides its rows; the driver writes it, and it travels with the program.
struct StageJob: Codable, Sendable {
  /// Of the rows; a stage refuses others.
  static let formatVersion = 1

  var format = StageJob.formatVersion
  /// The settings that were given, with names of files that travel, too.
  var flags: [String: [String]]
  var environment: [String: String]
  /// The driver's clock, in milliseconds.
  var now: Instant
  /// The name of a copy of the ledger, which travels, too.
  var ledger: String
  /// Groups whose missing charges are estimated.
  var unpriced: Set<Int64> = []
}

/// An `ArchiveMessage` on its way to the driver, without the events of a batch.
enum ArchiveNote: Codable {
  case opened(ArchiveOpening)
  case batch(lines: Int64, skipped: [String: Int64], [Reject], UnknownInput)
  case again, skipped
  case ended(ArchiveEnd)
  case unreadable(SubledgerError), failed(SubledgerError)
}

/// Reads and writes rows: fields that tabs separate, a line each.
struct StageCoding {
  private let encoder = JSONEncoder()
  private let decoder = JSONDecoder()

  init() { encoder.outputFormatting = .sortedKeys }

  /// A value as a field: JSON has no tabs and no ends of lines.
  func field(_ value: some Encodable) throws -> String {
    String(decoding: try encoder.encode(value), as: UTF8.self)
  }

  func value<Value: Decodable>(_ type: Value.Type, _ field: Substring) throws -> Value {
    try decoder.decode(type, from: Data(field.utf8))
  }
}

/// The fields of a row; by bytes, for characters take ten times as long.
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

/// What the processes of a stage gave, in files of a folder.
struct StageRows {
  let folder: String

  /// Calls `body` with the fields of each row: its kind first.
  func forEachRow(_ body: ([Substring]) throws -> Void) throws {
    let names = try FileManager.default.contentsOfDirectory(atPath: folder)
    for name in names.sorted() where name.hasPrefix("part-") {
      try Pipeline.forEachRow(of: "\(folder)/\(name)", body)
    }
  }

  func remove() throws { try FileManager.default.removeItem(atPath: folder) }

  static func malformed(_ what: String) -> SubledgerError {
    SubledgerError(
      .damagedInput, "cannot read what a stage gave: a row of \(what) is malformed",
      hint: "run again; if it stays so, the workers have another version of the program")
  }
}

/// A malformed row.
func malformedRow(_ number: Int, _ what: String) -> SubledgerError {
  SubledgerError(
    .damagedInput, "row \(number) of standard input is malformed: \(what)",
    hint: "rows are those of docs/stages.md, format \(StageJob.formatVersion)")
}
