import EventStore
import TestSupport
import Testing
import Domain

@Suite("The number of lines that brought an event")
struct AcceptedLineTests {
  @Test("Lines of snapshots do not count")
  func snapshots() throws {
    let folder = try TemporaryFolder()
    let ledger = try Ledger.fresh(in: folder)
    try ledger.ingest("a", [Line(), Line(transaction: "2")])
    let snapshots = try SnapshotIntake(.named("s", kind: .snapshots), into: ledger)
    try snapshots.add([
      Snapshot(
        provider: .qonversion, user: "u", capturedAt: Instant(seconds: 1), entitlements: [])
    ])
    _ = try snapshots.finish()
    #expect(try ledger.acceptedEventLines() == 2)
  }
}
