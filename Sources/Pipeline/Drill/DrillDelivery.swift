import EventStore
import Domain

extension Ledger {
  /// Removes and delivers events in a copy of a ledger; returns the number of recognised
  /// duplicates.
  func apply(_ damages: [Damage], seed: UInt64) throws -> Int64 {
    let texts = try damages.map { damage in
      try versions(ofLineage: damage.candidate.row)
        .first { $0.event.identity == damage.candidate.event.identity }?.transaction ?? ""
    }
    for damage in damages where damage.forgets {
      for event in [damage.candidate.event] + damage.companions { try remove(event) }
    }
    let intake = EventIntake(into: self)
    try intake.begin(NewArchive(name: "drill", sha256: "drill \(seed)", kind: .events))
    var batch = EventBatch()
    batch.symbols = symbols
    for (damage, transaction) in zip(damages, texts) {
      guard var event = damage.delivered else { continue }
      let row = damage.candidate.row
      let isLeak = event.environment != row.environment
      let id = isLeak ? "drill \(transaction)" : transaction
      if isLeak { event.leak(row, transaction: id, symbols.words) }
      // Each is a line of its own.
      event.place = Provenance(line: Int64(batch.events.count + 1))
      var text = EventText()
      text.transaction = batch.intern(id)
      text.original = batch.intern(row.original)
      text.user = batch.intern(try userText(event.user) ?? "")
      batch.values.append(Int32(batch.events.count))
      batch.events.append(event)
      batch.texts.append(text)
    }
    batch.lines = Int64(batch.events.count)
    try intake.add(batch)
    return try (intake.finish() + intake.write()).reduce(0) { $0 + $1.duplicates }
  }
}

extension Event {
  /// Makes the event one of the same subscription in its other environment.
  mutating func leak(_ row: LineageRow, transaction id: String, _ words: [String]) {
    lineage = lineageKey(
      provider: row.provider, app: words[Int(row.app)], environment: environment,
      store: row.store, original: row.original)
    transaction = transactionKey(id)
    var fingerprint = Fingerprint(seed: 6)
    fingerprint.combine(UInt64(bitPattern: identity))
    identity = fingerprint.value
  }
}
