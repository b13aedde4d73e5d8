import Domain

enum DamageKind: String, CaseIterable {
  /// The event was never received.
  case removed
  /// The event was received a second time.
  case duplicated
  /// The event was received an hour after the delivery window.
  case delayed
  /// The event was received after a later event of its subscription.
  case swapped
  /// A part of the event is wrong, or a second version contradicts it.
  case corrupted
}

struct DamageLimits {
  /// The time within which the event's provider can still deliver.
  let window: Interval
  /// The newest input of the event's feed; nothing is delivered after it.
  let newest: Instant
  /// A currency in which no charge is paid.
  let foreignCurrency: StringID
  /// Exchange rates that charges paid.
  var rates = ExchangeRates()
  /// As-of and the settings of the fold, which determine the loss of a state.
  var rules: FoldSettings
}

struct Damage {
  let kind: DamageKind
  let candidate: DrillCandidate
  /// The event that is delivered again; nil when the event only disappears.
  private(set) var delivered: Event?
  /// Whether the ledger's event disappears.
  private(set) var forgets = true
  /// Other events of the same line, which disappear with it.
  private(set) var companions: [Event] = []
  /// The lost content of a line of states, if it is a charge.
  private(set) var loss: StateLoss?
  /// Breaks, or counts of late and out-of-order deliveries, that must show the damage.
  private(set) var expected: [BreakCode] = []

  /// Returns the damage that the candidate's rank selects, or the next one that the event allows;
  /// every event can be delivered twice.
  static func drawn(
    for candidate: DrillCandidate, among events: [Event], within limits: DamageLimits
  ) throws -> Damage? {
    let kinds = DamageKind.allCases
    let first = Int(candidate.rank >> 8 % UInt64(kinds.count))
    for kind in kinds[first...] + kinds[..<first] {
      if let damage = try Damage(kind, candidate, among: events, within: limits) { return damage }
    }
    return nil
  }

  private init?(
    _ kind: DamageKind, _ candidate: DrillCandidate, among events: [Event],
    within limits: DamageLimits
  ) throws {
    self.kind = kind
    self.candidate = candidate
    let event = candidate.event
    // An event that was already counted as late or out of order would only be counted on another
    // day, and the arrival of a state does not show when it began.
    let isCounted =
      event.isLate(limits.window) || event.isOutOfOrder(among: events, limits.rules)
    let isWhole = isCounted || event.kind == .observed
    guard !isWhole || kind == .removed || kind == .duplicated else { return nil }
    switch kind {
    case .removed:
      companions = events.filter {
        event.collection != 0 && $0.collection == event.collection && $0.identity != event.identity
      }
      if !event.sendsSingleEvents { loss = try StateLoss(of: self, among: events, limits.rules) }
      let code = event.sendsSingleEvents ? event.kind.codeWhenMissed : loss?.code
      expected = code.map { [$0] } ?? []
      // A state that is also in other lines is not lost.
      if expected.isEmpty { return nil }
    case .duplicated: (delivered, forgets) = (event, false)
    case .delayed, .swapped:
      let later = events.first { $0.time > event.time }
      let delay = event.createdAt + limits.window + .hours(1)
      let received = kind == .delayed ? delay : later.map { $0.arrivedAt + .seconds(1) }
      guard let received else { return nil }
      delivered = event
      delivered?.received = received
      expectArrival(among: events, limits)
      // The delivery must be newly late or out of order.
      guard received <= limits.newest, expected.contains(kind == .delayed ? .late : .outOfOrder)
      else { return nil }
    case .corrupted:
      guard let wrong = Corruption(of: event, among: events, limits, draw: candidate.rank >> 32)
      else { return nil }
      delivered = wrong.event
      forgets = wrong.code != .conflict && wrong.code != .envLeak
      expected = [wrong.code]
      if forgets { expectArrival(among: events, limits) }
    }
  }

  /// Adds the breaks that the new arrival shows; the old arrival was neither late nor out of order.
  private mutating func expectArrival(among events: [Event], _ limits: DamageLimits) {
    guard var moved = delivered else { return }
    // After everything that was read before.
    moved.place = Provenance(archive: .max)
    if moved.isLate(limits.window) { expected.append(.late) }
    if moved.isOutOfOrder(among: events, limits.rules) { expected.append(.outOfOrder) }
  }
}

extension Event {
  /// Whether an event that happened later, and before as-of, arrived before this one: by receive
  /// time, or else by provenance.
  func isOutOfOrder(among events: [Event], _ rules: FoldSettings) -> Bool {
    events.contains { other in
      guard other.time > time, other.time < rules.asOf, other.isTimed else { return false }
      guard let received, let known = other.received else { return other.place < place }
      return known < received
    }
  }
}
