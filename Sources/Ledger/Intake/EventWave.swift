internal import Vocabulary

/// Events of many archives on their way into the ledger, encoded, and found by lineage.
///
/// The more events are written together, the fewer times the row of a lineage is touched; into an
/// empty ledger all rows are appended.
final class EventWave {
  private struct Entry {
    let time: Int64
    let identity: Int64
    let user: Int64
    let content: UnsafeRawBufferPointer
    /// Its place in `lineages`.
    let lineage: Int32
  }

  private struct Lineage {
    let head: LineageHead
    /// User of the last event that came.
    var user: Int64 = 0
  }

  private struct User {
    let key: Int64
    let id: UnsafeRawBufferPointer
  }

  /// The number of its first event.
  let start: Int
  /// In order of arrival.
  private var entries: [Entry] = []
  private var lineages: [Lineage] = []
  private var users: [User] = []
  private var lineageNumbers = FingerprintMap()
  private var userNumbers = FingerprintMap()
  private let arena = ByteArena()
  private var writer = ByteWriter()

  /// An empty wave; its events are numbered from `start` on.
  init(start: Int) { self.start = start }

  /// How far it goes.
  var end: Mark { Mark(events: entries.count, users: users.count) }

  /// Memory held, about, with the 32 bytes an event that writing needs besides.
  var size: Int {
    arena.size + entries.count * (MemoryLayout<Entry>.stride + 32)
      + lineages.count * (MemoryLayout<Lineage>.stride + 24)
      + users.count * (MemoryLayout<User>.stride + 24)
  }

  /// Adds an event whose symbols and place are the ledger's.
  func add(_ event: Event, texts: Texts) throws(LedgerError) {
    let lineage = try lineage(of: event, original: texts.original)
    try keepUser(of: event, in: lineage, id: texts.user)
    EventCoding.encode(event, transaction: texts.transaction, to: &writer)
    let content = writer.bytes.withUnsafeBytes { arena.copy($0) }
    entries.append(
      Entry(
        time: event.time.milliseconds, identity: event.identity, user: event.user,
        content: content, lineage: Int32(lineage)))
  }

  /// Forgets the events behind `mark`, and the users that only they named.
  func drop(after mark: Mark) {
    entries.removeSubrange(mark.events...)
    users.removeSubrange(mark.users...)
    userNumbers = FingerprintMap()
    for (number, user) in users.enumerated() {
      _ = userNumbers.value(of: user.key, else: Int32(number))
    }
    for lineage in lineages.indices { lineages[lineage].user = 0 }
  }

  private func lineage(
    of event: Event, original: UnsafeRawBufferPointer
  ) throws(LedgerError) -> Int {
    let next = lineages.count
    let number = Int(lineageNumbers.value(of: event.lineage, else: Int32(next)))
    let head = LineageHead(key: event.lineage, shop: LineageShop(of: event), original: original)
    if number == next {
      lineages.append(
        Lineage(
          head: LineageHead(key: head.key, shop: head.shop, original: arena.copy(original))))
    } else if !lineages[number].head.isSame(as: head) {
      throw .collision("two subscriptions")
    }
    return number
  }

  private func keepUser(
    of event: Event, in lineage: Int, id: UnsafeRawBufferPointer
  ) throws(LedgerError) {
    guard event.user != 0, event.user != lineages[lineage].user else { return }
    lineages[lineage].user = event.user
    let next = users.count
    let number = Int(userNumbers.value(of: event.user, else: Int32(next)))
    if number == next {
      users.append(User(key: event.user, id: arena.copy(id)))
    } else if !users[number].id.isEqual(to: id) {
      throw .collision("two users")
    }
  }
}

extension EventWave {
  /// A place between two events.
  struct Mark {
    var events = 0
    var users = 0
  }

  /// Its events up to `mark`.
  func events(upTo mark: Mark) -> any DeliveredEvents {
    Part(wave: self, entries: 0..<mark.events, users: 0..<mark.users)
  }

  /// Its events behind `mark`, with the users that those before it did not name.
  func events(after mark: Mark) -> any DeliveredEvents {
    Part(wave: self, entries: mark.events..<entries.count, users: mark.users..<users.count)
  }

  private struct Part: DeliveredEvents {
    let wave: EventWave
    let entries: Range<Int>
    let users: Range<Int>

    func forEachLineage(_ body: (LineageHead, [DeliveredEvent]) throws -> Void) throws {
      let (places, starts) = entriesByLineage()
      let order = wave.lineages.indices.filter { starts[$0] < starts[$0 + 1] }
        .sorted { wave.lineages[$0].head.key < wave.lineages[$1].head.key }
      var events: [DeliveredEvent] = []
      for lineage in order {
        events.removeAll(keepingCapacity: true)
        for place in places[starts[lineage]..<starts[lineage + 1]] {
          let entry = wave.entries[Int(place)]
          let record = EventRecord(
            time: entry.time, identity: entry.identity, user: entry.user, content: entry.content)
          events.append(DeliveredEvent(record: record, number: Int32(wave.start) + place))
        }
        events.arrange()
        try body(wave.lineages[lineage].head, events)
      }
    }

    func forEachUser(_ body: (Int64, UnsafeRawBufferPointer) throws -> Void) throws {
      for user in wave.users[users].sorted(by: { $0.key < $1.key }) { try body(user.key, user.id) }
    }

    /// The entries of each lineage, in order of arrival: those of lineage `i` are
    /// `places[starts[i]..<starts[i + 1]]`.
    private func entriesByLineage() -> (places: [Int32], starts: [Int]) {
      var starts = Array(repeating: 0, count: wave.lineages.count + 1)
      for entry in entries { starts[Int(wave.entries[entry].lineage) + 1] += 1 }
      for lineage in wave.lineages.indices { starts[lineage + 1] += starts[lineage] }
      var ends = starts
      var places = [Int32](repeating: 0, count: entries.count)
      for entry in entries {
        let lineage = Int(wave.entries[entry].lineage)
        places[ends[lineage]] = Int32(entry)
        ends[lineage] += 1
      }
      return (places, starts)
    }
  }
}

extension EventWave {
  /// The ids of one event as text.
  struct Texts {
    let transaction: UnsafeRawBufferPointer
    let original: UnsafeRawBufferPointer
    let user: UnsafeRawBufferPointer

    init(_ texts: EventText, in arena: UnsafeRawBufferPointer) {
      transaction = arena.slice(texts.transaction)
      // Without an original transaction id the own one begins the lineage.
      original = texts.original.count > 0 ? arena.slice(texts.original) : transaction
      user = arena.slice(texts.user)
    }
  }
}

extension Event {
  /// The same event with the ledger's symbols for those of its batch, and its archive's number.
  func translated(by symbols: [Symbol], archive: Int32) -> Event {
    var event = self
    event.name = symbols[Int(name)]
    event.app = symbols[Int(app)]
    event.product = symbols[Int(product)]
    event.previousProduct = symbols[Int(previousProduct)]
    event.country = symbols[Int(country)]
    event.storefront = symbols[Int(storefront)]
    if let currency = revenue?.currency { event.revenue?.currency = symbols[Int(currency)] }
    if let currency = price?.currency { event.price?.currency = symbols[Int(currency)] }
    if let group = observation?.group { event.observation?.group = symbols[Int(group)] }
    event.place.archive = archive
    return event
  }
}

extension LedgerError {
  /// Expected once in 2^32 keys of either sort.
  static func collision(_ what: String) -> LedgerError {
    LedgerError(
      .corrupt, "cannot add events: \(what) with different ids have one fingerprint",
      hint: "nothing was merged; report it, for no option of the program can help")
  }
}
