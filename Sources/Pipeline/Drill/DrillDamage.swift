import Subscriptions
import Domain

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
  /// An unused currency.
  let foreignCurrency: StringID
  /// What charges paid for their currencies.
  var rates = ExchangeRates()
  /// As-of and the settings of the fold, which decide what the loss of a state removes.
  var rules: FoldSettings
}

/// One event, its damage, and the expected breaks.
struct Damage {
  let kind: DamageKind
  let candidate: DrillCandidate
  /// The changed event to deliver; nil when the event is only removed.
  var delivered: Event?
  /// Whether the event that the ledger has disappears.
  var forgets = true
  /// Other events of the same line, which disappear with it.
  var companions: [Event] = []
  /// The charge in the removed line of states, if the loss is a charge.
  var loss: StateLoss?
  /// Breaks, or counts of late and disordered deliveries, that must show it.
  var expected: [BreakCode] = []

  /// The damage that the candidate's rank draws, or the next one that the event allows.
  ///
  /// - Parameters:
  ///   - events: all events of the event's fold group.
  ///   - limits: limits of the damage.
  static func drawn(
    for candidate: DrillCandidate, among events: [Event], within limits: DamageLimits
  ) throws(AmountOverflow) -> Damage {
    let kinds = DamageKind.allCases
    let first = Int(candidate.rank >> 8 % UInt64(kinds.count))
    for step in kinds.indices {
      let kind = kinds[(first + step) % kinds.count]
      let damage = try Damage(kind, candidate, among: events, within: limits)
      if let damage { return damage }
    }
    return try Damage(removing: candidate, among: events, limits.rules)
  }

  private init(
    removing candidate: DrillCandidate, among events: [Event], _ rules: FoldSettings
  ) throws(AmountOverflow) {
    let event = candidate.event
    kind = .removed
    self.candidate = candidate
    companions = events.filter {
      event.collection != 0 && $0.collection == event.collection && $0.identity != event.identity
    }
    if !event.tellsAlone { loss = try StateLoss(of: self, among: events, rules) }
    let code = event.tellsAlone ? event.kind.codeWhenMissed : loss?.code
    expected = code.map { [$0] } ?? []
  }

  private init(_ kind: DamageKind, _ candidate: DrillCandidate, delivering event: Event) {
    self.kind = kind
    self.candidate = candidate
    delivered = event
  }

  private init?(
    _ kind: DamageKind, _ candidate: DrillCandidate, among events: [Event],
    within limits: DamageLimits
  ) throws(AmountOverflow) {
    let event = candidate.event
    // A damage that only moves a count to another day is skipped, and so is the arrival of a state,
    // which does not show when the state began.
    let isCounted =
      event.isLate(limits.window) || event.isOutOfOrder(among: events, limits.rules)
    let isWhole = isCounted || event.kind == .observed
    guard !isWhole || kind == .removed || kind == .duplicated else { return nil }
    switch kind {
    case .removed:
      try self.init(removing: candidate, among: events, limits.rules)
      // A state that other lines report as well is not a loss.
      if expected.isEmpty { return nil }
    case .duplicated:
      self.init(kind, candidate, delivering: event)
      forgets = false
    case .delayed:
      let received = (event.created ?? event.time) + limits.window + .hours(1)
      self.init(kind, candidate, received, among: events, within: limits)
    case .swapped:
      guard let later = events.first(where: { $0.time > event.time }) else { return nil }
      let received = later.arrivedAt + .seconds(1)
      self.init(kind, candidate, received, among: events, within: limits)
    case .corrupted:
      let wrong = Corruption(of: event, among: events, limits, draw: candidate.rank >> 32)
      guard let wrong else { return nil }
      self.init(kind, candidate, delivering: wrong.event)
      forgets = wrong.code != .conflict && wrong.code != .envLeak
      expected = [wrong.code]
      if forgets { expectArrival(among: events, limits) }
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
    expectArrival(among: events, limits)
    guard received <= limits.newest, expected.contains(kind == .delayed ? .late : .outOfOrder)
    else { return nil }
  }

  /// Adds the findings of the new arrival; the old one was neither late nor out of order.
  private mutating func expectArrival(among events: [Event], _ limits: DamageLimits) {
    guard var moved = delivered else { return }
    // Behind everything that was read so far.
    moved.place = Provenance(archive: .max)
    if moved.isLate(limits.window) { expected.append(.late) }
    if moved.isOutOfOrder(among: events, limits.rules) { expected.append(.outOfOrder) }
  }
}

extension Event {
  /// Whether an event that happened later, and before as-of, came before this one: by receive time,
  /// else by place.
  func isOutOfOrder(among events: [Event], _ rules: FoldSettings) -> Bool {
    events.contains { other in
      guard other.time > time, other.time < rules.asOf, other.isTimed else { return false }
      if let received, let known = other.received { return known < received }
      if received != nil, other.received == nil { return other.place < place }
      return received == nil && other.place < place
    }
  }
}
