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

/// Rows of standard input or of files, one after the other.
struct StageInput {
  private let file: FileHandle

  /// Rows of a file.
  init(path: String) throws {
    guard let file = FileHandle(forReadingAtPath: path) else {
      throw SubledgerError(
        .inputOutput, "cannot read \(path)", hint: "check that the lake's folder is mounted here")
    }
    self.init(file)
  }

  init(_ file: FileHandle) { self.file = file }

  /// Calls `body` with the fields and the number of each row, from 1.
  func forEachRow(_ body: ([Substring], Int) throws -> Void) throws {
    var rest: [UInt8] = []
    var number = 0
    func take(_ line: ArraySlice<UInt8>) throws {
      number += 1
      let text = String(decoding: line, as: UTF8.self)
      // By bytes, for characters take ten times as long.
      let fields = text.utf8.split(separator: UInt8(ascii: "\t"), omittingEmptySubsequences: false)
      try body(fields.map(Substring.init), number)
    }
    while let data = try file.read(upToCount: 1 << 20), !data.isEmpty {
      let piece = [UInt8](data)
      var start = piece.startIndex
      while let end = piece[start...].firstIndex(of: UInt8(ascii: "\n")) {
        rest += piece[start..<end]
        try take(rest[...])
        rest.removeAll(keepingCapacity: true)
        start = end + 1
      }
      rest += piece[start...]
    }
    if !rest.isEmpty { try take(rest[...]) }
  }
}

/// What the processes of a stage gave, in files of a folder.
struct StageRows {
  let folder: String

  /// Calls `body` with the fields of each row: its kind first.
  func forEachRow(_ body: ([Substring]) throws -> Void) throws {
    let names = try FileManager.default.contentsOfDirectory(atPath: folder)
    for name in names.sorted() where name.hasPrefix("part-") {
      try StageInput(path: "\(folder)/\(name)").forEachRow { fields, _ in try body(fields) }
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
