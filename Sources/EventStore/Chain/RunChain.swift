public import Domain
internal import Formats

/// A run in the chain of records, with its text, one line per fact.
///
/// Its record is the SHA-256 of its text as the run wrote it, 64 lower-case hexadecimal digits. The
/// text contains the previous run's record: no run can be changed, removed or inserted without
/// changing all later records.
public typealias ChainLink = (run: Int64, text: String, record: String)

extension Ledger {
  /// Returns the chain, one link per published run, oldest first.
  public func chain() throws(SubledgerError) -> [ChainLink] {
    try access("read the chain of runs") { database in
      try database.publishedRuns().map { run in
        (run.number, try database.recordText(of: run.number), run.record)
      }
    }
  }
}

extension Connection {
  /// Seals a published run: its input, its results, and its record.
  func seal(_ run: Int64) throws {
    let words = try partOfWords(first: count("string"))
    for part in try partsArrived(in: run) + standingParts() + [words] {
      try self.run(
        """
        insert into run_part (run, part, rows, sha256) values (?, ?, ?, ?)
        on conflict (run, part) do update set rows = excluded.rows, sha256 = excluded.sha256
        """, run, part.name, part.rows, part.sha256)
    }
    let record = sha256(of: Array(try recordText(of: run).utf8))
    try self.run("update run set record = ? where id = ?", record, run)
  }

  func publishedRuns() throws -> [(number: Int64, record: String)] {
    try all("select id, record from run where published is not null order by id") {
      ($0.int64(0), $0.text(1))
    }
  }

  /// Returns the text of a run's record.
  func recordText(of run: Int64) throws -> String {
    let before = try first(
      "select record from run where id < ? and published is not null order by id desc limit 1", run
    ) { $0.text(0) }
    var lines = ["previous \(before ?? "none")"]
    let columns = [
      "id", "as_of_ms", "version", "lines", "accepted", "duplicates", "skipped", "rejected",
      "archives", "configuration", "prices", "decisions", "published", "qualified",
    ]
    try forEachRow(
      "select \(columns.joined(separator: ", ")), options from run where id = ?", run
    ) { row in
      for (index, column) in columns.enumerated() {
        let value = row.isNull(Int32(index)) ? "none" : row.text(Int32(index))
        lines.append("\(column == "id" ? "run" : column) \(value)")
      }
      lines.append("options \(sha256(of: Array(row.bytes(Int32(columns.count)))))")
    }
    lines += try all(
      "select part, rows, sha256 from run_part where run = ? order by part", run
    ) { "\($0.text(0)) \($0.int64(1)) rows \($0.text(2))" }
    return lines.joined(separator: "\n") + "\n"
  }
}

/// One table after a run: the number of its rows, and their SHA-256.
struct RunPart: Equatable {
  let name: String
  var rows: Int64
  /// Digest of the rows in the order of their key, 64 lower-case hexadecimal digits.
  var sha256: String
}

extension Connection {
  /// Returns the parts whose rows never change after the run; only those in `tables`, if given.
  func partsArrived(in run: Int64, only tables: Set<String>? = nil) throws -> [RunPart] {
    try SealedTables.byRun.filter { tables?.contains($0.name) ?? true }
      .map { try part($0.name, "where \($0.rows)", run) }
  }

  /// Returns the parts that later runs change: the tables match only the last run's digests.
  func standingParts(only tables: Set<String>? = nil) throws -> [RunPart] {
    try SealedTables.whole.filter { tables?.contains($0) ?? true }.map { try part($0) }
  }

  /// Returns the part of the words that existed in a run: the first `count`.
  func partOfWords(first count: Int64) throws -> RunPart {
    try part("string", "where id in (select id from string order by id limit ?1)", count)
  }

  private func part(_ name: String, _ rows: String = "", _ value: Int64 = 0) throws -> RunPart {
    let sealed = try columns(in: name).filter { SealedTables.unsealed[name]?.contains($0) != true }
    let key = try primaryKey(name).joined(separator: ", ")
    let statement = try Statement(
      self, "select \(sealed.joined(separator: ", ")) from \(name) \(rows) order by \(key)")
    statement.bind(1, value)
    let digest = SHA256Digest()
    var writer = ByteWriter()
    var rows: Int64 = 0
    let columns = statement.columnCount
    try statement.forEachRow { row in
      rows += 1
      for column in 0..<columns { row.write(column, to: &writer) }
      guard writer.bytes.count > 1 << 16 else { return }
      writer.bytes.withUnsafeBytes { digest.update($0) }
      writer.reset()
    }
    writer.bytes.withUnsafeBytes { digest.update($0) }
    return RunPart(name: name, rows: rows, sha256: digest.finish())
  }
}

/// The tables that runs seal, and which of their rows each run seals.
///
/// All columns are sealed except those that locate a file, or whose digest is in another column.
enum SealedTables {
  /// Tables whose rows of a run never change, with the condition that finds them.
  ///
  /// `?1` is the run.
  static let byRun: [(name: String, rows: String)] =
    [("archive", "run = ?1")]
    + ofArchives.map { ($0, "archive in (select id from archive where run = ?1)") }
    + (arrivals + ["publication", "published_horizon", "published"]).map { ($0, "run = ?1") }
    + [
      ("published_row", "version in (select id from published where run = ?1)"),
      ("act", "run = \(previous)"),
      ("closed_report", "act in (select id from act where run = \(previous))"),
    ]

  /// Tables about the lines of an archive.
  static let ofArchives = ["unknown_input", "skipped", "rejected", "reject"]

  /// Tables about arrivals, by the run that publishes them.
  static let arrivals = [
    "delivery_cell", "latency_cell", "receipt_cell", "failed_attempt", "delivery_day",
    "creation_lag",
  ]

  /// Tables that change only with a run: the newest run seals all of their rows.
  static let whole = ["break_episode", "decision", "published_month", "erased"]

  static let unsealed = [
    "archive": ["path", "modified_ms", "inode"],
    "act": ["run", "what", "zone", "period", "reason", "who", "content"],
  ]

  /// Audit entries after the previous run and before this one.
  private static let previous =
    "(select coalesce(max(id), 0) from run where published is not null and id < ?1)"
}
