internal import Vocabulary

/// Events of many archives on their way into the ledger, encoded, and found by lineage.
///
/// The more events are written together, the fewer times the row of a lineage is touched; into an
/// empty ledger all rows are appended.
final class EventWave {
  /// One delivered event.
  struct Entry {
    let time: Int64
    let identity: Int64
    let user: Int64
    let content: UnsafeRawBufferPointer
    /// Its place in `lineages`.
    let lineage: Int32
    /// The value that brought it, counted within its archive.
    let value: Int32
    /// Where its archive's account of arrivals counts it.
    let arrival: Int32
  }

  struct Lineage {
    let key: Int64
    let shop: LineageShop
    let original: UnsafeRawBufferPointer
    /// User of the last event that came.
    var user: Int64 = 0
  }

  struct User {
    let key: Int64
    let id: UnsafeRawBufferPointer
  }

  /// In order of arrival.
  private(set) var entries: [Entry] = []
  private(set) var lineages: [Lineage] = []
  private(set) var users: [User] = []
  private var lineageNumbers = FingerprintMap()
  private var userNumbers = FingerprintMap()
  private let arena = ByteArena()
  private var writer = ByteWriter()

  /// Memory held, about, with the 32 bytes an event that writing needs besides.
  var size: Int {
    arena.size + entries.count * (MemoryLayout<Entry>.stride + 32)
      + lineages.count * (MemoryLayout<Lineage>.stride + 24)
      + users.count * (MemoryLayout<User>.stride + 24)
  }

  /// Adds an event whose symbols and place are the ledger's.
  func add(_ event: Event, texts: Texts, value: Int32, arrival: Int32) throws(LedgerError) {
    let lineage = try lineage(of: event, original: texts.original)
    try keepUser(of: event, in: lineage, id: texts.user)
    EventCoding.encode(event, transaction: texts.transaction, to: &writer)
    let content = writer.bytes.withUnsafeBytes { arena.copy($0) }
    entries.append(
      Entry(
        time: event.time.milliseconds, identity: event.identity, user: event.user,
        content: content, lineage: Int32(lineage), value: value, arrival: arrival))
  }

  /// Forgets the events behind the first `count`, and the users that only they named.
  func drop(entriesAfter count: Int, usersAfter userCount: Int) {
    entries.removeSubrange(count...)
    users.removeSubrange(userCount...)
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
    if number == next {
      lineages.append(
        Lineage(
          key: event.lineage, shop: LineageShop(of: event), original: arena.copy(original)))
    } else {
      let known = lineages[number]
      guard known.original.isEqual(to: original), known.shop == LineageShop(of: event) else {
        throw .collision("two subscriptions")
      }
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
  /// The ids of one event as text.
  struct Texts {
    let transaction: UnsafeRawBufferPointer
    let original: UnsafeRawBufferPointer
    let user: UnsafeRawBufferPointer

    init(_ texts: EventText, in arena: UnsafeRawBufferPointer) {
      func bytes(_ range: TextRange) -> UnsafeRawBufferPointer {
        let start = Int(range.offset)
        return UnsafeRawBufferPointer(rebasing: arena[start..<start + Int(range.count)])
      }
      transaction = bytes(texts.transaction)
      // Without an original transaction id the own one begins the lineage.
      original = texts.original.count > 0 ? bytes(texts.original) : transaction
      user = bytes(texts.user)
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
