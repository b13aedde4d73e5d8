import EventStore
import Testing
import Domain

@Suite("A removed event leaves no trace")
struct EventRemovalTests {
  @Test("Removal keeps the other events, and the removed one is new when it arrives again")
  func forget() throws {
    let ledger = try Ledger.fresh()
    let lines = [
      Line(transaction: "1", user: "first"), Line(transaction: "2", user: "second", time: 9),
    ]
    try ledger.ingest("a", lines)
    let events = try ledger.events(ofLineage: lines[0].lineage)
    try #require(events.count == 2)
    try ledger.remove(events[1])
    #expect(try ledger.events(ofLineage: lines[0].lineage) == [events[0]])
    #expect(try ledger.user(ofLineage: lines[0].lineage) == "first")
    #expect(try ledger.ingest("b", [lines[1]]).accepted == 1)
    #expect(try ledger.events(ofLineage: lines[0].lineage).count == 2)
  }

  @Test("Removing its last event removes a lineage; removing its versions removes a conflict")
  func last() throws {
    let ledger = try Ledger.fresh()
    let line = Line()
    try ledger.ingest("a", [line, Line(usd: 1, body: "other")])
    #expect(try ledger.conflicts().count == 1)
    try ledger.remove(try #require(try ledger.events(ofLineage: line.lineage).first))
    #expect(try ledger.conflicts().isEmpty)
    #expect(try ledger.lineage(line.lineage) == nil)
    #expect(try ledger.ingest("b", [line]).accepted == 1)
  }

  @Test("Removing an unknown event does nothing")
  func unknown() throws {
    let ledger = try Ledger.fresh()
    try ledger.ingest("a", [Line()])
    var other = Event(kind: .renewed, time: Line().at)
    other.lineage = 42
    try ledger.remove(other)
    other.lineage = Line().lineage
    try ledger.remove(other)
    #expect(try ledger.events(ofLineage: Line().lineage).count == 1)
  }
}
