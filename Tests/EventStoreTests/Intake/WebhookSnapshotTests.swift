import EventStore
import Testing
@testable import Domain

@Suite("Entitlements of webhooks in the ledger")
struct WebhookSnapshotTests {
  let ledger: Ledger

  init() throws { ledger = try Ledger.fresh() }

  private func entitlement(_ id: String, until end: Instant?) -> Entitlement {
    Entitlement(
      id: id, product: id, isActive: true, startedAt: Instant(seconds: 1_000), expiresAt: end,
      renewState: .willRenew, store: .playStore, grant: .offerCode, isTrial: false)
  }

  private func add(_ lines: [(Line, [Entitlement])], _ name: String) throws {
    var batch = EventBatch()
    for (line, entitlements) in lines {
      batch.note(entitlements: entitlements)
      batch.add(line, value: Int32(batch.events.count))
    }
    batch.lines = Int64(lines.count)
    try ledger.ingest(name, batch)
  }

  private func newest(asOf: Instant = Instant(seconds: 4_000_000_000)) throws -> Snapshot? {
    var users: [Int64] = []
    try ledger.forEachUser(withWebhookSnapshotOf: .qonversion) { users.append($0) }
    let rows = try users.flatMap { try ledger.lineages(ofUser: $0, provider: .qonversion) }
    return try ledger.webhookSnapshot(of: rows, asOf: asOf)
  }

  @Test("Entitlements are read back under their products, with line and time of the newest webhook")
  func roundTrip() throws {
    let line = Line()
    let plain = Entitlement(id: "archive", product: "archive")
    let sent = [entitlement("premium", until: line.at + .days(60)), plain]
    try add([(line, sent)], "a")
    let snapshot = try #require(try newest())
    #expect(snapshot.entitlements == sent)
    #expect(snapshot.isOfWebhook && snapshot.place.line == 1)
    #expect(snapshot.capturedAt == line.created.map { line.at + .seconds($0) } ?? line.at)
    #expect(try newest(asOf: line.at) == nil)
    #expect(try ledger.hasWebhookSnapshots(of: .qonversion))
    #expect(try !ledger.hasWebhookSnapshots(of: .purple))
  }

  @Test("Of two versions of an event, the one that counts supplies the entitlements")
  func versions() throws {
    var early = Line()
    (early.created, early.body) = (1, "early")
    var late = early
    (late.created, late.body) = (2, "late")
    let (first, second) = (entitlement("one", until: nil), entitlement("two", until: nil))
    try add([(late, [second])], "b")
    try add([(early, [first])], "a")
    #expect(try newest()?.entitlements == [second])
    late.created = 3
    late.body = "later"
    try add([(late, [])], "c")
    #expect(try newest() == nil)
    #expect(try ledger.table("select compared from lineage") == ["0"])
  }
}
