public import Domain
internal import Foundation

/// The text form of an event, for rows that pass from one process to another.
///
/// It contains its own words, so that it is independent of the ledger.
public struct EventRows {
  private var writer = ByteWriter()
  private var content = ByteWriter()
  private var record = ByteWriter()

  /// Creates a coder with reusable buffers.
  public init() {}

  /// Returns the text of an event of a batch, with its notes; without an erased person's ids.
  public mutating func encode(
    _ batch: EventBatch, _ index: Int, isErased: Bool = false
  ) -> String {
    var words = StringTable()
    let event = batch.events[index].renumbered { words.symbol(batch.symbols.words[Int($0)]) }
    let notes = notes(on: index, batch.notes)
    let sent = notes?.entitlements ?? []
    let entitlements = sent.isEmpty ? [] : SnapshotCoding.encode(sent.map(\.ofWebhook))
    return batch.arena.withUnsafeBytes { arena in
      let texts = WriteBatch.Texts(batch.texts[index], in: arena)
      content.reset()
      EventCoding.encode(
        event, transaction: texts.transaction, entitlements: entitlements, to: &content)
      record.reset()
      content.bytes.withUnsafeBytes { content in
        let own = EventRecord(
          time: event.time.milliseconds, identity: event.identity, user: event.user,
          content: content)
        EventRecords.encode([own], to: &record)
      }
      writer.reset()
      record.bytes.withUnsafeBytes { record in
        writer.put(
          EventRow(
            words: Array(words.words.dropFirst()), shop: SubscriptionScope(of: event),
            original: arena.slice(batch.texts[index].original),
            transaction: arena.slice(batch.texts[index].transaction),
            user: isErased ? arena.slice(0..<0) : texts.user, record: record,
            value: batch.values[index], roundedAmounts: notes?.roundedAmounts ?? 0,
            missingIsProceed: notes?.missingIsProceed ?? 0,
            customer: arena.slice(isErased ? 0..<0 : batch.texts[index].customer)))
      }
      return Data(writer.bytes).base64EncodedString()
    }
  }

  /// Adds the event in `text` to `batch`; false when `encode` did not write it.
  public func decode(_ text: Substring, into batch: inout EventBatch) -> Bool {
    guard let data = Data(base64Encoded: String(text)) else { return false }
    return [UInt8](data).withUnsafeBytes { decode($0, into: &batch) }
  }

  private func decode(_ bytes: UnsafeRawBufferPointer, into batch: inout EventBatch) -> Bool {
    var (reader, row) = (ByteReader(bytes), EventRow())
    reader.read(&row)
    guard reader.isSound, reader.isAtEnd else { return false }
    var event = row.shop.event
    var sent: [Entitlement] = []
    let isRead: Void? = try? EventRecords.forEach(in: row.record) { record in
      try record.complete(&event)
      sent = try record.entitlements()
    }
    let symbols = [0] + row.words.map { batch.symbols.symbol($0) }
    var isWhole = isRead != nil
    event = event.renumbered { symbol in
      isWhole = isWhole && symbols.indices.contains(Int(symbol))
      return isWhole ? symbols[Int(symbol)] : 0
    }
    guard isWhole else { return false }
    var texts = EventText()
    texts.original = batch.intern(row.original)
    texts.transaction = batch.intern(row.transaction)
    texts.user = batch.intern(row.user)
    texts.customer = batch.intern(row.customer)
    batch.note(
      roundedAmounts: row.roundedAmounts, missingIsProceed: row.missingIsProceed,
      entitlements: sent)
    batch.events.append(event)
    batch.texts.append(texts)
    batch.values.append(row.value)
    return true
  }
}

/// What a row contains: the event as a record of `EventRecords`, what is stored with its lineage,
/// its words and ids, and the notes on its body.
private struct EventRow: FieldRecord {
  var words: [String] = []
  var shop = SubscriptionScope()
  var original = UnsafeRawBufferPointer(start: nil, count: 0)
  var transaction = UnsafeRawBufferPointer(start: nil, count: 0)
  var user = UnsafeRawBufferPointer(start: nil, count: 0)
  var record = UnsafeRawBufferPointer(start: nil, count: 0)
  var value: Int32 = 0
  var roundedAmounts: Int64 = 0
  var missingIsProceed: Int64 = 0
  var customer = UnsafeRawBufferPointer(start: nil, count: 0)

  mutating func code<Coder: FieldCoder>(by coder: inout Coder) {
    coder.code(&words, first: "")
    coder.code(hash: &shop.lineage)
    shop.code(by: &coder)
    coder.code(&original)
    coder.code(&transaction)
    coder.code(&user)
    coder.code(&record)
    coder.code(&value)
    coder.code(&roundedAmounts)
    coder.code(&missingIsProceed)
    coder.code(&customer)
  }
}

extension String: FieldRecord {
  mutating func code<Coder: FieldCoder>(by coder: inout Coder) { coder.code(&self) }
}

/// Returns the notes on event `index` among `all`, which are in the order of their events.
private func notes(on index: Int, _ all: [BodyNotes]) -> BodyNotes? {
  let place = all.indices.partitioningIndex { all[$0].event >= index }
  return place < all.count && all[place].event == index ? all[place] : nil
}
