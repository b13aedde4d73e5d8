import EventStore
import Testing
import Domain

@Suite("The number of lines that brought an event")
struct AcceptedLineTests {
  @Test("Lines of snapshots do not count")
  func snapshots() throws {
    let ledger = try Ledger.fresh()
    try ledger.ingest("a", [Line(), Line(transaction: "2")])
    let captured = Instant(seconds: 1)
    try ledger.ingest(
      "s", [Snapshot(provider: .qonversion, user: "u", capturedAt: captured, entitlements: [])])
    #expect(try ledger.acceptedEventLines() == 2)
  }
}
