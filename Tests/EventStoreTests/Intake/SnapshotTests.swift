import Testing
@testable import Domain

@testable import EventStore

@Suite("Snapshots in the ledger")
struct SnapshotTests {
  let ledger: Ledger

  init() throws { ledger = try Ledger.fresh() }

  private func snapshot(
    _ user: String, app: String = "", at seconds: Int64 = 100, _ entitlements: [Entitlement] = []
  ) -> Snapshot {
    Snapshot(
      provider: .qonversion, app: app, user: user, capturedAt: Instant(seconds: seconds),
      entitlements: entitlements, place: Provenance(line: 3, byteOffset: 30))
  }

  private func current(asOf seconds: Int64) throws -> [UserSnapshots] {
    var current: [UserSnapshots] = []
    try ledger.forEachUser(withSnapshotAsOf: Instant(seconds: seconds)) { current.append($0) }
    return current
  }

  @Test("A snapshot is read back with every field")
  func roundTrip() throws {
    var full = Entitlement(
      id: "premium ✓", product: "p", isActive: false, startedAt: Instant(milliseconds: -1),
      expiresAt: Instant(milliseconds: 253_402_300_799_999), renewState: .nonRenewable,
      renewsCount: -3, store: .paypal, grant: .manual, isTrial: true,
      autoRenewOffAt: Instant(seconds: 1_759_000_000),
      transactions: [
        SnapshotTransaction(
          id: "t1", originalID: "t0", kind: .oneTime, product: "q", at: Instant(seconds: 1),
          expiresAt: Instant(milliseconds: -62_135_596_800_000), revokedAt: Instant(seconds: 3),
          environment: .sandbox, grant: .familySharing),
        SnapshotTransaction(id: String(repeating: "9", count: 300)),
      ])
    full.trialStartedAt = Instant(seconds: 4)
    full.firstPurchasedAt = Instant(seconds: 5)
    full.lastPurchasedAt = Instant(seconds: 6)
    full.hasOfferCode = true
    var given = snapshot("user-1", app: "app", [full, Entitlement(id: "")])
    let ingest = try SnapshotIntake(.named("s", kind: .snapshots), into: ledger)
    try ingest.add([given])
    _ = try ingest.finish()
    (given.place.archive, given.user) = (ingest.archive, "")
    let users = try current(asOf: 100)
    #expect(users.map(\.snapshots) == [[given]])
    #expect(users.map(\.user) == [Fingerprint.of("user-1")])
  }

  @Test("The newest snapshot at or before as-of is current, by provider, user and app")
  func newest() throws {
    try ledger.ingest(
      "s",
      [
        snapshot("a", at: 10, [Entitlement(id: "old")]),
        snapshot("a", at: 20, [Entitlement(id: "new")]),
        snapshot("a", at: 30, [Entitlement(id: "future")]), snapshot("b", at: 30),
        snapshot("a", app: "other", at: 15),
      ])
    let users = try current(asOf: 20)
    #expect(users.count == 1)
    #expect(users[0].snapshots.map(\.app) == ["", "other"])
    #expect(users[0].snapshots[0].entitlements.map(\.id) == ["new"])
    #expect(try current(asOf: 30).count == 2)
    #expect(try current(asOf: 9).isEmpty)
    #expect(
      try ledger.newestCaptures(asOf: Instant(seconds: 29))
        == [.qonversion: ["": Instant(seconds: 20), "other": Instant(seconds: 15)]])
  }

  @Test("Users with one and with several snapshots are read in order, each within its range")
  func walk() throws {
    let (few, many) = (["a", "b", "c", "d"], ["e", "f", "g"])
    try ledger.ingest(
      "s",
      few.map { snapshot($0, at: 10) }
        + many.flatMap { user in
          [
            snapshot(user, at: 5, [Entitlement(id: "old")]), snapshot(user, at: 10),
            snapshot(user, at: 40, [Entitlement(id: "future")]), snapshot(user, app: "x", at: 9),
          ]
        } + [snapshot("late", at: 30)])
    let users = try current(asOf: 20)
    #expect(users.map(\.user) == (few + many).map { Fingerprint.of($0) }.sorted())
    for user in users {
      #expect(user.snapshots.allSatisfy { $0.entitlements.isEmpty })
      let isOfMany = many.map { Fingerprint.of($0) }.contains(user.user)
      #expect(user.snapshots.map(\.app) == (isOfMany ? ["", "x"] : [""]))
      var alone: [UserSnapshots] = []
      try ledger.forEachUser(
        withSnapshotAsOf: Instant(seconds: 20), provider: .qonversion,
        users: [user.user...user.user]
      ) { alone.append($0) }
      #expect(alone == [user])
    }
  }

  @Test("Two responses captured at one moment form one snapshot, with equal entitlements once")
  func union() throws {
    let both = Entitlement(id: "both")
    for order in [[0, 1], [1, 0]] {
      let ledger = try Ledger.fresh()
      let halves = [
        snapshot("a", [both, Entitlement(id: "x")]), snapshot("a", [both, Entitlement(id: "y")]),
      ]
      try ledger.ingest("s", order.map { halves[$0] })
      var ids: [[String]] = []
      try ledger.forEachUser(withSnapshotAsOf: Instant(seconds: 100)) { user in
        ids += user.snapshots.map { $0.entitlements.map(\.id).sorted() }
      }
      #expect(ids == [["both", "x", "y"]])
    }
  }

  @Test("Equal snapshots and equal contents of a user are stored once, and all lines are counted")
  func duplicates() throws {
    try ledger.ingest("s", [snapshot("a"), snapshot("b")])
    let counts = try ledger.ingest(
      "t", [snapshot("a"), snapshot("a", at: 101)],
      rejects: [Reject(place: Provenance(line: 1), reason: "no_user", detail: "")])
    #expect(counts.lines == 3)
    #expect(counts.accepted == 1)
    #expect(counts.duplicates == 1)
    #expect(counts.rejected == 1)
    #expect(
      try ledger.table("select count(*), count(distinct content) from snapshot") == ["3|2"])
    #expect(try ledger.table("select count(*) from snapshot_content") == ["2"])
    #expect(try ledger.table("select kind from archive") == ["snapshots", "snapshots"])
  }

  @Test("Users with a production lineage but no snapshot until a time are listed")
  func absent() throws {
    try ledger.ingest(
      "a", [Line(user: "seen"), Line(transaction: "2", original: "2", user: "unseen")])
    try ledger.ingest("s", [snapshot("seen", at: 100), snapshot("unseen", at: 101)])
    var absent: [Int64] = []
    try ledger.forEachUser(
      withoutSnapshotAsOf: Instant(seconds: 100), provider: .qonversion
    ) { absent.append($0) }
    #expect(absent == [Fingerprint.of("unseen")])
    #expect(try ledger.userText(absent[0]) == "unseen")
    #expect(try ledger.userText(1) == nil)
  }

  @Test("A file with rejects is torn until it is complete, or a later one is")
  func torn() throws {
    var asOf = Instant(milliseconds: .max)
    func add(_ name: String, _ content: String, at seconds: Int64 = 100, rejected: Bool) throws {
      var archive = NewArchive.named(content, kind: .snapshots)
      (archive.name, archive.path) = (name, name)
      let ingest = try SnapshotIntake(archive, into: ledger)
      let reject = Reject(
        place: Provenance(line: 4), reason: "bad_time", detail: "expires: no time")
      try ingest.add([snapshot(content, at: seconds)], rejects: rejected ? [reject] : [])
      _ = try ingest.finish()
    }
    try add("s", "half", rejected: true)
    #expect(
      try ledger.incompleteSnapshots(asOf: asOf)
        == IncompleteSnapshots(
          newest: "s", lines: 2, rejected: 1, firstReject: "expires: no time, at line 4"))
    // It may be another part of the same set.
    try add("t", "other", rejected: false)
    try add("u", "third", rejected: true)
    let both = try ledger.incompleteSnapshots(asOf: asOf)
    #expect(both?.newest == "u" && both?.files == 2 && both?.rejected == 2)
    try add("u", "third, whole", rejected: false)
    #expect(try ledger.incompleteSnapshots(asOf: asOf)?.newest == "s")
    try ledger.publish()
    try add("v", "still bad", at: 101, rejected: true)
    #expect(try ledger.incompleteSnapshots(asOf: asOf)?.files == 2)
    try add("w", "whole", at: 101, rejected: false)
    #expect(try ledger.incompleteSnapshots(asOf: asOf)?.newest == "v")
    try ledger.publish()
    try add("x", "whole again", at: 102, rejected: false)
    #expect(try ledger.incompleteSnapshots(asOf: asOf) == nil)
    // Snapshots after as-of show nothing yet.
    asOf = Instant(milliseconds: 0)
    #expect(try ledger.incompleteSnapshots(asOf: asOf)?.files == 2)
  }

  @Test("An abandoned file of snapshots leaves nothing behind")
  func abandoned() throws {
    let ingest = try SnapshotIntake(.named("s", kind: .snapshots), into: ledger)
    try ingest.add([snapshot("a")])
    ingest.abandon()
    for table in ["snapshot", "snapshot_content", "archive", "user"] {
      #expect(try ledger.table("select count(*) from \(table)") == ["0"], "\(table)")
    }
  }
}
