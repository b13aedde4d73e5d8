@testable import Domain
import EventStore
import Testing

@Suite("Ids and contents with the same fingerprint")
struct SharedFingerprintTests {
  /// Publicly computable ids with the same fingerprint.
  static let ids = ["anna0001", "bert0002", "carl0003"].map { "user-00000003805\($0)4eid0LQt" }
  let ledger: Ledger

  init() throws { ledger = try Ledger.fresh() }

  private func lines(_ users: [String]) -> [Line] {
    users.map { Line(transaction: "of \($0)", original: "of \($0)", user: $0) }
  }

  private func snapshot(_ user: String, entitlement: String = "e") -> Snapshot {
    Snapshot(
      provider: .qonversion, app: "app", user: user, capturedAt: Instant(seconds: 9),
      entitlements: [Entitlement(id: entitlement)], place: Provenance(line: 1, byteOffset: 0))
  }

  private func requireApart() throws {
    let owners = try ledger.table(
      "select original, id from lineage join user on user.key = lineage.user order by original")
    #expect(owners == Self.ids.map { "of \($0)|\($0)" })
    for id in Self.ids { #expect(try ledger.userText(ledger.userKey(of: id)) == id) }
    try requireSound()
  }

  private func requireSound() throws {
    let damaged = try ledger.check().filter { $0.wrong > 0 }
    #expect(damaged.isEmpty, "\(damaged)")
  }

  @Test("Users within one batch are kept apart")
  func users() throws {
    #expect(Set(Self.ids.map { Fingerprint.of($0) }).count == 1)
    try ledger.ingest("a", lines(Self.ids))
    try requireApart()
  }

  @Test("Users of several archives and of a spill file are kept apart", arguments: [0, 64 << 20])
  func archives(batchSize: Int) throws {
    let intake = EventIntake(into: ledger, batchSize: batchSize, spillSize: 1 << 30)
    for (number, id) in (Self.ids + Self.ids).enumerated() {
      try intake.begin(.named("\(number)"))
      try intake.add(.of(lines([id])))
      _ = try intake.finish()
    }
    _ = try intake.write()
    try requireApart()
    // A known id keeps its key.
    try ledger.ingest("b", lines([Self.ids[2], Self.ids[0]]))
    try requireApart()
  }

  @Test("Users of snapshots are kept apart, and match those of events")
  func snapshots() throws {
    try ledger.ingest("a", lines([Self.ids[1]]))
    #expect(try ledger.ingest("s", Self.ids.map { snapshot($0) }).accepted == 3)
    try ledger.ingest("b", lines([Self.ids[0], Self.ids[2]]))
    try requireApart()
    #expect(try ledger.table("select count(distinct user) from snapshot") == ["3"])
  }

  @Test("Contents of a user's snapshots are kept apart")
  func contents() throws {
    let names = ["plan-48695", "plan-81504"]
    #expect(try ledger.ingest("s", names.map { snapshot("u", entitlement: $0) }).accepted == 2)
    let keys = try ledger.table("select max(key) - min(key), count(*) from snapshot_content")
    #expect(keys == ["1|2"], "the contents share a fingerprint")
    var found: [String] = []
    try ledger.forEachUser(withSnapshotAsOf: Instant(seconds: 9)) { user in
      found += user.snapshots.flatMap(\.entitlements).map(\.id)
    }
    #expect(found.sorted() == names)
    try requireSound()
  }
}
