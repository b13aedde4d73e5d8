internal import Domain

/// Encoded events of many archives on their way into the ledger, by lineage.
///
/// The more events are written together, the fewer times the row of a lineage is touched; into an
/// empty ledger all rows are appended.
struct WriteBatch {
  struct Entry {
    let time: Int64
    let identity: Int64
    let user: Int64
    let content: ByteArena.Slot
    /// Index in `lineages`.
    let lineage: Int32
  }

  struct Lineage {
    let scope: SubscriptionScope
    let original: ByteArena.Slot
    /// User of the last added event: the fingerprint of the id, and the key.
    var user: (fingerprint: Int64, key: Int64) = (0, 0)
  }

  struct User {
    let key: Int64
    let id: ByteArena.Slot
  }

  /// The number of its first event.
  let start: Int
  /// In order of arrival.
  private(set) var entries: [Entry] = []
  private(set) var lineages: [Lineage] = []
  private(set) var users: [User] = []
  private(set) var contents = ByteArena()
  /// The ids of lineages and users, kept apart because they are looked up for every event.
  private(set) var ids = ByteArena()
  private var lineageNumbers: [Int64: Int] = [:]
  private var userNumbers: [Int64: Int] = [:]

  /// Creates an empty batch; its events are numbered from `start` on.
  init(start: Int) { self.start = start }

  var end: Mark { Mark(events: entries.count, users: users.count) }

  /// Memory in use, approximately, with the additional 32 bytes per event that writing needs.
  var size: Int {
    contents.size + ids.size + entries.count * (MemoryLayout<Entry>.stride + 32)
      + lineages.count * (MemoryLayout<Lineage>.stride + 24)
      + users.count * (MemoryLayout<User>.stride + 24)
  }

  /// Adds events that have the ledger's symbols and provenance, with their texts, and the notes on
  /// some of their bodies, in order; `keys` is nil while only the batch has users.
  ///
  /// Each step is done for all events before the next: the data of lineages is scattered in memory,
  /// and in a short loop the processor can wait for several addresses at once.
  mutating func add(
    _ events: [Event], _ texts: [Texts], _ notes: [BodyNotes], _ keys: UserKeys?
  ) throws {
    var notes = notes.filter { !$0.entitlements.isEmpty }[...]
    let numbers = numberLineages(of: events, texts)
    for index in events.indices {
      try check(events[index], of: numbers[index], original: texts[index].original)
    }
    for index in events.indices {
      let event = events[index]
      let user = try userKey(of: event, in: numbers[index], id: texts[index].user, keys)
      let isNoted = notes.first.map { Int($0.event) == index } ?? false
      let sent = isNoted ? notes.removeFirst().encodedEntitlements : []
      let content = contents.keep {
        EventCoding.encode(
          event, transaction: texts[index].transaction, entitlements: sent, to: &$0)
      }
      entries.append(
        Entry(
          time: event.time.milliseconds, identity: event.identity, user: user,
          content: content, lineage: Int32(numbers[index])))
    }
  }

  /// Drops the events after `mark`, and the users that only they named.
  mutating func drop(after mark: Mark) {
    entries.removeSubrange(mark.events...)
    users.removeSubrange(mark.users...)
    userNumbers = [:]
    for (number, user) in users.enumerated() { userNumbers[user.key] = number }
    for lineage in lineages.indices { lineages[lineage].user = (0, 0) }
  }

  /// Returns the index of each event's lineage in `lineages`; new ones are appended.
  private mutating func numberLineages(of events: [Event], _ texts: [Texts]) -> [Int] {
    events.indices.map { index in
      let event = events[index]
      if let number = lineageNumbers[event.lineage] { return number }
      lineageNumbers[event.lineage] = lineages.count
      lineages.append(
        Lineage(
          scope: SubscriptionScope(of: event), original: ids.keep(texts[index].original)))
      return lineages.count - 1
    }
  }

  private func check(
    _ event: Event, of lineage: Int, original: UnsafeRawBufferPointer
  ) throws(SubledgerError) {
    let known = lineages[lineage]
    guard known.scope == SubscriptionScope(of: event),
      ids.withBytes(at: known.original, { $0.isEqual(to: original) })
    else { throw .collision }
  }

  /// Returns the key of an event's user; two ids with one fingerprint get different keys.
  private mutating func userKey(
    of event: Event, in lineage: Int, id: UnsafeRawBufferPointer, _ keys: UserKeys?
  ) throws -> Int64 {
    if event.user == 0 { return 0 }
    let last = lineages[lineage].user
    if event.user == last.fingerprint { return last.key }
    var key = event.user
    while true {
      let number = userNumbers[key] ?? users.count
      if number == users.count {
        let known = try keys?.holder(of: key) { ids.keep($0) }
        userNumbers[key] = number
        users.append(User(key: key, id: known ?? ids.keep(id)))
      }
      if ids.withBytes(at: users[number].id, { $0.isEqual(to: id) }) { break }
      key = key.nextKey
    }
    lineages[lineage].user = (event.user, key)
    return key
  }
}

extension WriteBatch {
  /// A position between two events.
  struct Mark {
    var events = 0
    var users = 0
  }

  func events(upTo mark: Mark) -> any DeliveredEvents {
    SortedBatch(of: self, entries: 0..<mark.events, users: 0..<mark.users)
  }

  /// Returns the events after `mark`, with the users that earlier events did not name.
  func events(after mark: Mark) -> any DeliveredEvents {
    SortedBatch(of: self, entries: mark.events..<entries.count, users: mark.users..<users.count)
  }

  /// The ids of one event as text.
  struct Texts {
    let transaction: UnsafeRawBufferPointer
    let original: UnsafeRawBufferPointer
    let user: UnsafeRawBufferPointer

    init(_ texts: EventText, in arena: UnsafeRawBufferPointer) {
      transaction = arena.slice(texts.transaction)
      // Without an original transaction id, the event's own transaction begins the lineage.
      original = texts.original.count > 0 ? arena.slice(texts.original) : transaction
      user = arena.slice(texts.user)
    }
  }
}

extension Ledger {
  /// Returns the events of a batch with the ledger's symbols and their archive's number.
  func translated(_ batch: EventBatch, of archive: Int32) -> [Event] {
    let numbers = batch.symbols.words.map { symbols.symbol($0) }
    return batch.events.map { event in
      var event = event.renumbered { numbers[Int($0)] }
      event.place.archive = archive
      return event
    }
  }
}

extension BodyNotes {
  /// The entitlements as encoded by `SnapshotCoding`; empty without any.
  var encodedEntitlements: [UInt8] {
    entitlements.isEmpty ? [] : SnapshotCoding.encode(entitlements.map(\.ofWebhook))
  }
}

extension Event {
  /// Returns the same event with other symbols.
  @inline(__always)
  func renumbered(_ symbol: (StringID) -> StringID) -> Event {
    var event = self
    event.name = symbol(name)
    event.app = symbol(app)
    event.product = symbol(product)
    event.previousProduct = symbol(previousProduct)
    event.country = symbol(country)
    event.storefront = symbol(storefront)
    event.offer = symbol(offer)
    if let currency = revenue?.currency { event.revenue?.currency = symbol(currency) }
    if let currency = price?.currency { event.price?.currency = symbol(currency) }
    if let group = observation?.group { event.observation?.group = symbol(group) }
    return event
  }
}

extension SubledgerError {
  /// The error for a collision of fingerprints, expected once in 2^32 keys.
  static var collision: SubledgerError {
    SubledgerError(
      .damagedInput, "cannot add events: two subscriptions with different ids have one fingerprint",
      hint: "nothing was merged; please report it, no option avoids it")
  }
}
