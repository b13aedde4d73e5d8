internal import Domain

/// A walk over the newest snapshot of each user and app at a time, by provider, user and app.
///
/// A user and app with one snapshot is a single step of a walk over the table; others are skipped
/// with two seeks, however many runs the ledger has.
struct SnapshotWalk {
  private let all: Statement
  private let newest: Statement
  private let content: Statement
  /// The number of the only provider; nil for all.
  private let provider: Int64?
  private let asOf: Instant

  /// A snapshot with its content.
  struct Row {
    let provider: Provider
    let user: Int64
    let app: Int64
    let captured: Instant
    let content: Int64
    let place: Provenance

    init(_ row: Statement) throws {
      provider = try row.value(0)
      (user, app, captured) = (row.int64(1), Int64(try row.symbol(2)), row.instant(3))
      (content, place) = (row.int64(4), row.provenance(5))
    }

    func isBeside(_ other: Row) -> Bool {
      (provider, user, app) == (other.provider, other.user, other.app)
    }
  }

  init(_ database: Connection, of provider: Provider?, asOf: Instant) throws {
    let select =
      "select provider, user, app, captured_ms, content, archive, line, byte_offset from snapshot"
    let later =
      provider == nil
      ? "(provider, user, app) > (?1, ?2, ?3)" : "provider = ?1 and (user, app) > (?2, ?3)"
    all = try Statement(
      database,
      "\(select) where \(later) and user <= ?4 order by provider, user, app, captured_ms, content")
    newest = try Statement(
      database,
      """
      \(select) where provider = ?1 and user = ?2 and app = ?3 and captured_ms = (
        select max(captured_ms) from snapshot
        where provider = ?1 and user = ?2 and app = ?3 and captured_ms <= ?4)
      order by content
      """)
    content = try Statement(database, "select body from snapshot_content where key = ?")
    self.provider = provider.map { Int64($0.rawValue) }
    self.asOf = asOf
  }

  func forEachNewest(of users: ClosedRange<Int64>, _ body: (Row) throws -> Void) throws {
    all.bindAll(provider ?? .min, users.lowerBound, Int64.min, users.upperBound)
    defer { all.reset() }
    var waiting: Row?
    while true {
      let row = try all.step() ? Row(all) : nil
      if let first = waiting, let row, row.isBeside(first) {
        all.reset()
        newest.bindAll(first.provider, first.user, first.app, asOf)
        try newest.forEachRow { try body(Row($0)) }
        all.bindAll(first.provider, first.user, first.app, users.upperBound)
        waiting = nil
        continue
      }
      if let waiting, waiting.captured <= asOf { try body(waiting) }
      guard let row else { return }
      waiting = row
    }
  }

  /// Returns the entitlements in the snapshot of a row; `path` is the ledger's, for errors.
  func entitlements(of row: Row, _ path: String) throws -> [Entitlement] {
    content.bind(1, row.content)
    let entitlements = try content.first { SnapshotCoding.decode($0.blob(0)) }
    guard let entitlements = entitlements ?? nil else {
      throw SubledgerError.damagedLedger(
        "cannot read a snapshot in the ledger \(path): its content is damaged")
    }
    return entitlements
  }
}
