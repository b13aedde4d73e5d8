public import Domain
internal import Formats

/// A run in the chain of records.
///
/// Its record is the SHA-256 of its text, which contains the previous run's record. No run can be
/// changed, removed or inserted without changing all later records.
public struct ChainLink: Sendable, Equatable {
  /// The number of the run.
  public var run: Int64
  /// The text that the record hashes, one line per fact.
  public var text: String
  /// SHA-256 of `text` as the run wrote it, 64 lower-case hexadecimal digits.
  public var record: String

  /// Whether the record matches the text.
  public var isSound: Bool { sha256(of: Array(text.utf8)) == record }
}

extension Ledger {
  /// Returns the chain, one link per published run, oldest first.
  public func chain() throws(SubledgerError) -> [ChainLink] {
    try access("read the chain of runs") { database in
      let chain = RunChain(database)
      return try chain.published().map { run in
        ChainLink(
          run: run.number, text: try chain.text(of: run.number), record: run.record)
      }
    }
  }
}

/// Reads and writes the records of runs, and reads what they seal.
struct RunChain {
  let database: Connection

  init(_ database: Connection) { self.database = database }

  /// Seals a published run: its input, its results, and its record.
  func seal(_ run: Int64) throws {
    for part in try arrived(in: run) + standing() + [words(database.count("string"))] {
      try database.run(
        """
        insert into run_part (run, part, rows, sha256) values (?, ?, ?, ?)
        on conflict (run, part) do update set rows = excluded.rows, sha256 = excluded.sha256
        """, run, part.name, part.rows, part.sha256)
    }
    try database.run(
      "update run set record = ? where id = ?", sha256(of: Array(try text(of: run).utf8)), run)
  }

  func published() throws -> [(number: Int64, record: String)] {
    try database.all("select id, record from run where published is not null order by id") {
      ($0.int64(0), $0.text(1))
    }
  }

  /// Returns the text of a run's record.
  func text(of run: Int64) throws -> String {
    let before = try database.first(
      "select record from run where id < ? and published is not null order by id desc limit 1", run
    ) { $0.text(0) }
    var lines = ["previous \(before ?? "none")"]
    let columns = [
      "id", "as_of_ms", "version", "lines", "accepted", "duplicates", "skipped", "rejected",
      "archives", "configuration", "prices", "decisions", "published", "qualified",
    ]
    try database.forEachRow(
      "select \(columns.joined(separator: ", ")), options from run where id = ?", run
    ) { row in
      for (index, column) in columns.enumerated() {
        let value = row.isNull(Int32(index)) ? "none" : row.text(Int32(index))
        lines.append("\(column == "id" ? "run" : column) \(value)")
      }
      lines.append("options \(sha256(of: Array(row.bytes(Int32(columns.count)))))")
    }
    lines += try database.all(
      "select part, rows, sha256 from run_part where run = ? order by part", run
    ) { "\($0.text(0)) \($0.int64(1)) rows \($0.text(2))" }
    return lines.joined(separator: "\n") + "\n"
  }
}
