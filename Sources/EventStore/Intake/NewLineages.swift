/// Lineages for an empty ledger, and the results of their events.
public struct NewLineages: Sendable {
  private struct Row {
    let scope: SubscriptionScope
    let original: ByteArena.Slot
    let state: LineageState
    let events: ByteArena.Slot
  }

  private var rows: [Row] = []
  private var arena = ByteArena()
  var notes = MergeNotes()

  mutating func add(_ head: LineageHead, _ records: [EventRecord]) {
    let events = arena.keep { EventRecords.encode(records, to: &$0) }
    rows.append(
      Row(
        scope: head.scope, original: arena.keep(head.original), state: LineageState(records),
        events: events))
  }

  /// Calls `body` with each lineage, its state and its events, as `EventRecords` wrote them.
  func forEach(
    _ body: (LineageHead, LineageState, UnsafeRawBufferPointer) throws -> Void
  ) rethrows {
    try arena.withPieces { pieces in
      for row in rows {
        let head = LineageHead(scope: row.scope, original: pieces[row.original])
        try body(head, row.state, pieces[row.events])
      }
    }
  }
}
