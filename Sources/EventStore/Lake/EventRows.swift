public import Domain
internal import Foundation

// Events as text, for rows that pass from one process to another. A row contains its own words, so
// that it is independent of the ledger.

extension EventBatch {
  /// Returns the text of an event, with its notes; without an erased person's ids.
  public func row(of index: Int, isErased: Bool = false) -> String {
    var words = StringTable()
    let event = events[index].renumbered { words.symbol(symbols.words[Int($0)]) }
    let notes = notes(on: index)
    let entitlements = notes?.encodedEntitlements ?? []
    var content = ByteWriter(capacity: 256)
    var record = ByteWriter(capacity: 256)
    var writer = ByteWriter(capacity: 512)
    arena.withUnsafeBytes { arena in
      let (own, ids) = (texts[index], WriteBatch.Texts(texts[index], in: arena))
      EventCoding.encode(
        event, transaction: ids.transaction, entitlements: entitlements, to: &content)
      content.bytes.withUnsafeBytes { content in
        let version = EventRecord(
          time: event.time.milliseconds, identity: event.identity, user: event.user,
          content: content)
        EventRecords.encode([version], to: &record)
      }
      record.bytes.withUnsafeBytes { record in
        writer.put(
          EventRow(
            words: Array(words.words.dropFirst()), scope: SubscriptionScope(of: event),
            original: arena.slice(own.original), transaction: arena.slice(own.transaction),
            user: isErased ? arena.slice(0..<0) : ids.user, record: record,
            value: values[index], roundedAmounts: notes?.roundedAmounts ?? 0,
            missingIsProceed: notes?.missingIsProceed ?? 0,
            customer: arena.slice(isErased ? 0..<0 : own.customer)))
      }
    }
    return Data(writer.bytes).base64EncodedString()
  }

  /// Adds the event in `text`; false when `row` did not write it.
  public mutating func add(row text: Substring) -> Bool {
    guard let data = Data(base64Encoded: String(text)) else { return false }
    return [UInt8](data).withUnsafeBytes { add(row: $0) }
  }

  private mutating func add(row bytes: UnsafeRawBufferPointer) -> Bool {
    var (reader, row) = (ByteReader(bytes), EventRow())
    reader.read(&row)
    guard reader.isSound, reader.isAtEnd else { return false }
    var event = row.scope.emptyEvent
    var sent: [Entitlement] = []
    let isRead: Void? = try? EventRecords.forEach(in: row.record) { record in
      sent = try record.complete(&event).decodedEntitlements()
    }
    let numbers = [0] + row.words.map { symbols.symbol($0) }
    var isWhole = isRead != nil
    event = event.renumbered { symbol in
      isWhole = isWhole && numbers.indices.contains(Int(symbol))
      return isWhole ? numbers[Int(symbol)] : 0
    }
    guard isWhole else { return false }
    var own = EventText()
    own.original = intern(row.original)
    own.transaction = intern(row.transaction)
    own.user = intern(row.user)
    own.customer = intern(row.customer)
    note(
      roundedAmounts: row.roundedAmounts, missingIsProceed: row.missingIsProceed,
      entitlements: sent)
    events.append(event)
    texts.append(own)
    values.append(row.value)
    return true
  }

  /// Returns the notes on an event; they are in the order of their events.
  private func notes(on index: Int) -> BodyNotes? {
    let place = notes.indices.partitioningIndex { notes[$0].event >= index }
    return place < notes.count && notes[place].event == index ? notes[place] : nil
  }
}

/// What a row contains: the event as a record of `EventRecords`, what is stored with its lineage,
/// its words and ids, and the notes on its body.
private struct EventRow: FieldRecord {
  var words: [String] = []
  var scope = SubscriptionScope()
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
    coder.code(hash: &scope.lineage)
    scope.code(by: &coder)
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
