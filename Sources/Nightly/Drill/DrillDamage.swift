import Vocabulary

/// What a drill does to an event.
enum DamageKind: String, CaseIterable {
  /// It never came.
  case removed
  /// It came a second time.
  case duplicated
  /// It came an hour after the delivery window.
  case delayed
  /// It came after an event of its subscription that happened later.
  case swapped
  /// A part of it is wrong, or a second version contradicts it.
  case corrupted
}

/// What every damage to an event keeps to.
struct DamageLimits {
  /// How late the event's provider can still deliver.
  let window: Interval
  /// The newest input of the event's feed; nothing is delivered after it.
  let newest: Instant
  /// A currency that nobody pays in.
  let foreignCurrency: Symbol
}

/// One event, what is done to it, and what must be found.
struct Damage {
  let kind: DamageKind
  let candidate: DrillCandidate
  /// What is delivered anew; nil when the event only disappears.
  var delivered: Event?
  /// Whether the event that the ledger has disappears.
  var forgets = true
  /// Breaks, or counts of late and disordered deliveries, that must show it.
  var expected: [BreakCode] = []

  /// The damage that the candidate's rank draws, or the next one that the event allows.
  ///
  /// - Parameters:
  ///   - events: everything told of the event's fold group.
  ///   - limits: what the damage must keep to.
  static func drawn(
    for candidate: DrillCandidate, among events: [Event], within limits: DamageLimits
  ) -> Damage {
    let kinds = DamageKind.allCases
    let first = Int(candidate.rank >> 8 % UInt64(kinds.count))
    let attempts = kinds.indices.lazy.compactMap { step in
      Damage(kinds[(first + step) % kinds.count], candidate, among: events, within: limits)
    }
    return attempts.first ?? Damage(removing: candidate)
  }

  private init(removing candidate: DrillCandidate) {
    kind = .removed
    self.candidate = candidate
    expected = candidate.event.kind.codeWhenMissed.map { [$0] } ?? []
  }

  private init(_ kind: DamageKind, _ candidate: DrillCandidate, delivering event: Event) {
    self.kind = kind
    self.candidate = candidate
    delivered = event
  }

  private init?(
    _ kind: DamageKind, _ candidate: DrillCandidate, among events: [Event],
    within limits: DamageLimits
  ) {
    let event = candidate.event
    // What is counted already would be counted on another day only.
    let isCounted = event.isLate(limits.window) || event.isOutOfOrder(among: events)
    guard !isCounted || kind == .removed || kind == .duplicated else { return nil }
    switch kind {
    case .removed: self.init(removing: candidate)
    case .duplicated:
      self.init(kind, candidate, delivering: event)
      forgets = false
    case .delayed:
      let received = (event.created ?? event.time) + limits.window + .hours(1)
      self.init(kind, candidate, received, among: events, within: limits)
    case .swapped:
      guard let later = events.first(where: { $0.time > event.time }) else { return nil }
      let received = (later.received ?? later.created ?? later.time) + .seconds(1)
      self.init(kind, candidate, received, among: events, within: limits)
    case .corrupted:
      let wrong = Corruption(
        of: event, among: events, foreign: limits.foreignCurrency, draw: candidate.rank >> 32)
      guard let wrong else { return nil }
      self.init(kind, candidate, delivering: wrong.event)
      forgets = wrong.code != .conflict
      expected = [wrong.code]
      if forgets { expectArrival(among: events, limits.window) }
    }
  }

  /// The event as if it had been received at `received`; nil when that shows nothing new.
  private init?(
    _ kind: DamageKind, _ candidate: DrillCandidate, _ received: Instant, among events: [Event],
    within limits: DamageLimits
  ) {
    var moved = candidate.event
    moved.received = received
    self.init(kind, candidate, delivering: moved)
    expectArrival(among: events, limits.window)
    guard received <= limits.newest, expected.contains(kind == .delayed ? .late : .outOfOrder)
    else { return nil }
  }

  /// Adds what the new arrival shows; the old one was neither late nor out of order.
  private mutating func expectArrival(among events: [Event], _ window: Interval) {
    guard var moved = delivered else { return }
    // Behind everything that was read so far.
    moved.place = Place(archive: .max)
    if moved.isLate(window) { expected.append(.late) }
    if moved.isOutOfOrder(among: events) { expected.append(.outOfOrder) }
  }
}

extension Event {
  func isLate(_ window: Interval) -> Bool {
    guard let received else { return false }
    return received > (created ?? time) + window
  }

  /// Whether an event that happened later came before this one: by receive time, else by place.
  func isOutOfOrder(among events: [Event]) -> Bool {
    events.contains { other in
      guard other.time > time else { return false }
      if let received, let known = other.received { return known < received }
      if received != nil, other.received == nil { return other.place.isBefore(place) }
      return received == nil && other.place.isBefore(place)
    }
  }
}

extension Place {
  func isBefore(_ other: Place) -> Bool {
    (archive, line, byteOffset) < (other.archive, other.line, other.byteOffset)
  }
}
