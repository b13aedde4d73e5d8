internal import Domain

/// The lines of one archive that could not be understood: all are counted by reason, and the first
/// of each reason are listed with their place.
///
/// Three kilobytes of a packed archive can hold a million such lines.
struct RejectAccount {
  /// Lines of one reason that an archive lists.
  static let listedMax: Int64 = 1000

  /// By reason, since the archive began.
  private var lines: [String: Int64] = [:]
  /// By reason, not yet written.
  private var unwritten: [String: Int64] = [:]
  private var listed: [Reject] = []

  /// Memory held, about.
  var size: Int { listed.count * 200 }

  /// Counts `rejects`, which come in the order of their places.
  mutating func add(_ rejects: [Reject]) {
    for reject in rejects {
      let before = lines[reject.reason, default: 0]
      lines[reject.reason] = before + 1
      unwritten[reject.reason, default: 0] += 1
      if before < Self.listedMax { listed.append(reject) }
    }
  }

  /// Writes what was counted since it was last written.
  mutating func write(of archive: Int32, to database: Connection) throws {
    let rows = ArchiveRows(database)
    try rows.insert(rejected: unwritten, of: archive)
    try rows.insert(listed, of: archive)
    unwritten = [:]
    listed = []
  }
}

/// What most of the lines were rejected for that no run has published yet.
public struct FrequentReject: Sendable, Equatable {
  /// A word of `rejects.csv`.
  public var reason: String
  /// How many lines.
  public var lines: Int64
  /// The archive of the first of them, relative to the root it was given under.
  public var archive: String
  /// Its line, from 1.
  public var line: Int64
  /// Its offset in the inflated archive, from 0.
  public var byteOffset: Int64
  /// What is wrong with it, without any of its content.
  public var detail: String
}

extension Ledger {
  /// Which values of the archive of events with these bytes were rejected for `reason`: what was
  /// wrong, by offset in the inflated archive; nil when they are more than are listed.
  public func rejects(
    for reason: String, of sha256: String
  ) throws(LedgerError) -> [Int64: String]? {
    try access("look for rejected lines") { database in
      let read = "archive.sha256 = ?1 and kind = 'events' and status <> 'repeated' and reason = ?2"
      let count = try database.statement(
        """
        select rejected.lines from rejected join archive on archive.id = rejected.archive
        where \(read)
        """)
      let list = try database.statement(
        """
        select byte_offset, detail from reject join archive on archive.id = reject.archive
        where \(read)
        """)
      for statement in [count, list] {
        statement.bind(1, sha256)
        statement.bind(2, reason)
      }
      var listed: [Int64: String] = [:]
      try list.forEachRow { listed[$0.int64(0)] = $0.text(1) }
      let lines = try count.first { Int($0.int64(0)) } ?? 0
      return lines == listed.count ? listed : nil
    }
  }

  /// The most frequent reason among lines that no run has published yet; nil without any.
  public func mostFrequentReject() throws(LedgerError) -> FrequentReject? {
    try access("look for rejected lines") { database in
      let statement = try Statement(
        database,
        """
        with fresh as (select id, name from archive where run = ?1),
        most as (
          select reason, sum(lines) as lines from rejected join fresh on fresh.id = archive
          group by reason order by sum(lines) desc, reason limit 1
        )
        select reason, most.lines, fresh.name, line, byte_offset, detail
        from most join reject using (reason) join fresh on fresh.id = reject.archive
        order by reject.archive, line, byte_offset limit 1
        """)
      statement.bind(1, try ArrivalRun(in: database).number)
      return try statement.first { row in
        FrequentReject(
          reason: row.text(0), lines: row.int64(1), archive: row.text(2), line: row.int64(3),
          byteOffset: row.int64(4), detail: row.text(5))
      }
    }
  }
}
