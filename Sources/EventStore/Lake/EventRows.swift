public import Domain
internal import Foundation

/// The text form of an event, for rows that pass from one process to another.
///
/// It contains its own words, so that it is independent of the ledger: the words; the fields that
/// the event's lineage shares; its texts; the record of `EventRecords`; and the notes on its body.
public struct EventRows {
  private var words = StringTable()
  private var writer = ByteWriter()
  private var content = ByteWriter()
  private var record = ByteWriter()

  /// Creates a coder with reusable buffers.
  public init() {}

  /// Returns the text of the event at `index` of a batch, with the notes on it; without the ids of
  /// an erased person.
  public mutating func encode(
    _ batch: EventBatch, _ index: Int, isErased: Bool = false
  ) -> String {
    words = StringTable()
    var symbols: [StringID: StringID] = [:]
    func word(_ symbol: StringID) -> StringID {
      if let known = symbols[symbol] { return known }
      let own = words.symbol(batch.symbols.words[Int(symbol)])
      symbols[symbol] = own
      return own
    }
    let event = batch.events[index].renumbered(word)
    let sent = note(on: index, batch.entitlements) { $0.event }
    let entitlements = EntitlementCoding.encode(sent?.entitlements ?? [], at: event.time) {
      words.symbol($0)
    }
    return batch.arena.withUnsafeBytes { arena in
      let texts = WriteBatch.Texts(batch.texts[index], in: arena)
      content.reset()
      EventCoding.encode(
        event, transaction: texts.transaction, entitlements: entitlements, to: &content)
      record.reset()
      content.bytes.withUnsafeBytes { content in
        EventRecords.encode(
          [
            EventRecord(
              time: event.time.milliseconds, identity: event.identity, user: event.user,
              content: content)
          ], to: &record)
      }
      writer.reset()
      writer.put(unsigned: UInt64(words.words.count - 1))
      for word in words.words.dropFirst() { writer.put(word) }
      writer.put(hash: event.lineage)
      writer.put(Int64(event.provider.rawValue))
      writer.put(Int64(event.app))
      writer.put(Int64(event.environment.rawValue))
      writer.put(Int64(event.store.rawValue))
      writer.put(arena.slice(batch.texts[index].original))
      writer.put(arena.slice(batch.texts[index].transaction))
      writer.put(isErased ? arena.slice(.none) : texts.user)
      record.bytes.withUnsafeBytes { writer.put($0) }
      writer.put(unsigned: UInt64(batch.values[index]))
      let reading = note(on: index, batch.readings) { $0.event }
      writer.put(reading?.roundedAmounts ?? 0)
      writer.put(reading?.missingIsProceed ?? 0)
      let customer = isErased ? nil : note(on: index, batch.customers) { $0.event }
      writer.put(arena.slice(customer?.id ?? .none))
      return Data(writer.bytes).base64EncodedString()
    }
  }

  /// Adds the event in `text` to `batch`; false when `encode` did not write it.
  public func decode(_ text: Substring, into batch: inout EventBatch) -> Bool {
    guard let data = Data(base64Encoded: String(text)) else { return false }
    return [UInt8](data).withUnsafeBytes { decode($0, into: &batch) }
  }

  private func decode(_ bytes: UnsafeRawBufferPointer, into batch: inout EventBatch) -> Bool {
    var reader = ByteReader(bytes)
    var symbols: [StringID] = [0]
    var words = [""]
    let count = reader.unsigned()
    guard count < 1_000 else { return false }
    for _ in 0..<count {
      words.append(reader.string())
      symbols.append(batch.symbols.symbol(words[words.count - 1]))
    }
    let lineage = reader.hash()
    var event = SubscriptionScope(
      provider: reader.value(Provider.self, else: .qonversion),
      app: StringID(truncatingIfNeeded: reader.signed()),
      environment: reader.value(Environment.self, else: .production),
      store: reader.value(Store.self, else: .unknown)
    ).event(of: lineage)
    var texts = EventText()
    texts.original = batch.intern(reader.text())
    texts.transaction = batch.intern(reader.text())
    texts.user = batch.intern(reader.text())
    let records = reader.text()
    let value = Int32(truncatingIfNeeded: reader.unsigned())
    let (rounded, missing) = (reader.signed(), reader.signed())
    let customer = reader.text()
    var sent: [Entitlement] = []
    var isWhole = reader.isSound && reader.isAtEnd
    do {
      try EventRecords.forEach(in: records) { record in
        try record.complete(&event)
        if record.hasEntitlements { sent = try record.entitlements(words: words) }
      }
    } catch {
      isWhole = false
    }
    event = event.renumbered { symbol in
      guard symbols.indices.contains(Int(symbol)) else {
        isWhole = false
        return 0
      }
      return symbols[Int(symbol)]
    }
    guard isWhole else { return false }
    batch.note(roundedAmounts: rounded, missingIsProceed: missing)
    batch.note(sent)
    if !customer.isEmpty { batch.note(customer: customer) }
    batch.events.append(event)
    batch.texts.append(texts)
    batch.values.append(value)
    return true
  }
}

/// Returns the note on event `index` among `notes`, which are in the order of their events.
private func note<Note>(on index: Int, _ notes: [Note], _ event: (Note) -> Int32) -> Note? {
  let place = notes.indices.partitioningIndex { event(notes[$0]) >= index }
  return place < notes.count && event(notes[place]) == index ? notes[place] : nil
}
