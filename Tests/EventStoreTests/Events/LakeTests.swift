import Domain
import EventStore
import TestSupport
import Testing

@Suite("Moving events between a ledger and a lake")
struct LakeTests {
  private let folder: TemporaryFolder
  private let ledger: Ledger

  init() throws {
    folder = try TemporaryFolder()
    ledger = try Ledger.fresh(in: folder)
  }

  /// The tables that events fill.
  private static let tables = [
    """
    select key, provider, app, original, user, versions, counted, hex(events) from lineage
    order by key
    """,
    "select first, hex(entries) from identity", "select * from event_conflict",
    "select * from due", "select key, id from user order by key",
    "select count(*) from lake_archive",
  ]

  private func content(_ ledger: Ledger) throws -> [[String]] {
    try Self.tables.map { try ledger.table($0) }
  }

  /// Moves the events of a copy to rows, and back into the copy.
  private func moved() throws -> (copy: Ledger, shard: Shard) {
    let path = folder.path("copy.sqlite")
    try ledger.copy(to: path)
    let copy = try Ledger.open(path: path, mode: .readWrite)
    var rows: [(archive: Int32, text: String)] = []
    try copy.forEachVersion { batch in
      rows.append((batch.events[0].place.archive, batch.row(of: 0)))
    }
    try copy.leaveEvents(to: "p")
    #expect(try copy.table("select count(*) from lineage") == ["0"])
    let places = try copy.lakeArchives()
    let shard = try Shard(copy) { _, _, _ in }
    for (number, row) in rows.enumerated().sorted(by: { $0.element.archive < $1.element.archive }) {
      let place = try #require(places.first { $0.archive == row.archive })
      #expect(place.part == "p" && place.file == Int(row.archive))
      let isRead = try shard.add(
        row: row.text[...], number: Int32(number), of: row.archive, published: place.published)
      #expect(isRead)
    }
    return (copy, shard)
  }

  @Test("Moving events to a lake and back gives the same rows and invalidates no keys")
  func thereAndBack() throws {
    try ledger.ingest(
      "a", [Line(), Line(transaction: "t2", original: "t2", user: "second", usd: nil)])
    let basis = FactCheckpoint(asOf: Instant(seconds: 0), rules: "", archive: 1)
    try ledger.finish(FoldChange(basis: basis, facts: Facts()))
    try ledger.ingest(
      "b",
      [Line(created: 4, body: "other"), Line(usd: 5), Line(transaction: "t3", original: "t3")])
    let before = try content(ledger)
    #expect(before[3].count == 2, "the lineages of the second archive are due")
    #expect(before[2].count == 1, "one event is in conflict")
    let (copy, shard) = try moved()
    #expect(try copy.isOnLake() == true)
    try shard.finish(keepsSnapshots: true)
    try copy.leaveLake()
    #expect(try content(copy) == before)
    #expect(try copy.isOnLake() == false)
  }

  @Test("A part is left over until an archive lies in it, for its own ledger, also one that moved")
  func leftovers() throws {
    try ledger.ingest("a", [Line()])
    try ledger.note(parts: ["p", "q"])
    #expect(try ledger.lakeLeftovers() == ["p", "q"])
    try ledger.leaveEvents(to: "p")
    #expect(try ledger.lakeLeftovers() == ["q"])
    let places = try #require(try ledger.check().first { $0.name == "lake_part" })
    #expect(places.count == 2 && places.wrong == 0)
    try ledger.copy(to: folder.path("moved.sqlite"))
    let moved = try Ledger.open(path: folder.path("moved.sqlite"), mode: .readWrite)
    try moved.leaveLake()
    #expect(try moved.lakeLeftovers() == ["p", "q"])
    let other = try TemporaryFolder()
    #expect(try Ledger.fresh(in: other).lakeLeftovers().isEmpty)
    try ledger.rows(sql: "delete from lake_part where part = 'p'") { _ in }
    #expect(try ledger.check().first { $0.name == "lake_part" }?.wrong == 1)
  }

  @Test("An erased person's id does not return from a lake")
  func erased() throws {
    try ledger.ingest("a", [Line(user: "QON_person"), Line(transaction: "t2", original: "t2")])
    _ = try ledger.erase("QON_person", as: AuditEntry(.erase)) { _, _ in nil }
    let (copy, shard) = try moved()
    // Delivered again, it is in the lake as it arrived.
    let again = EventBatch.of([Line(transaction: "t9", original: "t9", user: "QON_person")])
    let isAdded = try shard.add(row: again.row(of: 0)[...], number: 9, of: 1, published: 0)
    #expect(isAdded)
    try shard.finish(keepsSnapshots: true)
    let users = try copy.table("select id from user order by id")
    #expect(users.count == 2 && !users.contains("QON_person"), "\(users)")
    #expect(try copy.table("select count(distinct user) from lineage") == ["2"])
    let row = again.row(of: 0, isErased: true)
    var read = EventBatch()
    let isRead = read.add(row: row[...])
    #expect(isRead)
    #expect(read.text(read.texts[0].user).isEmpty && read.events[0].user == again.events[0].user)
  }
}
