import Domain

/// A subscription as the counted provider reports it, and what other providers add.
struct LinkedSubscription {
  let main: SubscriptionHistory
  /// Its index among the subscriptions of all providers.
  let index: Int
  /// How many charges and trial starts of the main provider name each transaction.
  private let opened: [Int64: Int]
  private let refunded: Set<Int64>
  /// Transactions that the main provider's other events show to be trials.
  private let trials: Set<Int64>
  /// Events of other providers, as folded and as reported.
  private(set) var events: [Event] = []
  private(set) var reported: [Event] = []
  /// Charges of other providers that are left out.
  private var left: [(charge: Event, usd: Amount?)] = []
  /// When others reported charges that the main provider's states show only later, by transaction.
  private var dates: [Int64: Instant] = [:]

  /// - Parameter original: `transactionKey` of the original id.
  init(_ main: SubscriptionHistory, _ index: Int, original: Int64?) {
    self.main = main
    self.index = index
    opened = main.events.openings
    refunded = Set(main.events.lazy.filter(\.kind.isRefund).map(\.transaction))
    let isConverted = main.events.first(where: \.opensPurchase)?.kind == .trialConverted
    let noticed = main.events.lazy.filter(\.isOfTrial).map(\.transaction)
    trials = Set(noticed).union([isConverted ? original : nil].compactMap(\.self)).subtracting([0])
  }

  /// Whether the purchase that `event` opens at `start` is already reported: by its transaction or,
  /// if one of both reports has none or uses one id for several charges, by the time.
  func hasOpened(_ event: Event, isUnique: Bool, from start: Instant) -> Bool {
    let others = events.filter { $0.opensPurchase && $0.provider != event.provider }
    if event.chargeKind != nil, trials.contains(event.transaction) { return true }
    let isNamed =
      opened[event.transaction] != nil || others.contains { $0.transaction == event.transaction }
    if isUnique, isNamed { return true }
    let gap = main.rules.renewalGap
    func mayBe(_ other: Event) -> Bool {
      !isUnique
        || other.product == event.product
          && (other.transaction == 0 || opened[other.transaction, default: 0] > 1)
    }
    return others.contains { start.isWithin(gap, of: $0.time) && mayBe($0) }
      || main.periods.contains { period in
        period.start - gap <= start && period.end.map { start + gap < $0 } ?? true
          && mayBe(main.events[period.opener])
      }
      || main.bookings.contains { booking in
        !booking.isRefund && booking.product == event.product
          && start.isWithin(gap, of: booking.time) && mayBe(main.events[booking.event])
      }
  }

  /// The main provider's charge of a transaction.
  func charge(of transaction: Int64) -> Event? {
    main.events.first {
      transaction != 0 && $0.transaction == transaction && $0.chargeKind != nil
    }
  }

  func hasRefunded(_ event: Event) -> Bool {
    refunded.contains(event.transaction)
      || events.contains { $0.kind.isRefund && $0.transaction == event.transaction }
  }

  /// Whether what `event` reports is known: a switch of auto-renew if the last one had the same
  /// direction; a failed payment, pause, extension or end if another provider reported it, or an
  /// end, in the period at that time.
  ///
  /// Only reports up to the gap after the event count: providers notice it at different times.
  func hasReported(_ event: Event) -> Bool {
    let others = events.filter { $0.provider != event.provider }
    let period = main.periods.last { $0.start <= event.time }
    let added = others.lazy.filter { $0.opensPurchase && $0.time <= event.time }.map(\.time).max()
    guard let start = [period?.start, added].compactMap(\.self).max() else { return true }
    let own = period.map { $0.ownEvents.map { main.events[$0] } } ?? []
    let known = (own + others).filter {
      start <= $0.time && $0.time <= event.time + main.rules.renewalGap
    }
    if event.switchesAutoRenew {
      let last = known.filter(\.switchesAutoRenew).max { $0.time < $1.time }
      return last?.isCancel == event.isCancel
    }
    return known.contains {
      $0.isExpiry || $0.kind == .revoked || $0.kind == event.kind
        || $0.isBillingProblem && event.isBillingProblem
    }
  }

  /// Whether the counted provider reported a failed payment of the charge.
  func hasFailed(_ transaction: Int64) -> Bool {
    transaction != 0
      && main.events.contains { $0.isBillingProblem && $0.transaction == transaction }
  }

  /// Adds an event that only another provider reports, and the events it was derived from.
  mutating func add(_ event: Event, from history: SubscriptionHistory) {
    events.append(event)
    guard !reported.contains(where: { $0.identity == event.identity }) else { return }
    reported += history.reported.filter { $0.identity == event.identity }
  }

  /// Leaves out a charge that is already reported, and returns the main provider's charge.
  mutating func leaveOut(_ charge: Event, _ usd: Amount?, isUnique: Bool) -> Event? {
    if isUnique { left.append((charge, usd)) }
    let own = self.charge(of: charge.transaction)
    // A state without the charge's date can be reported long after it.
    let isDated = charge.observation.map { $0.lastChargedAt != nil } ?? true
    if isUnique, isDated, let own, let state = own.observation, state.lastChargedAt == nil,
      charge.time + main.rules.renewalGap < own.time
    {
      dates[charge.transaction] = charge.time
    }
    return own
  }

  /// The charges left out, with the charges of the same transactions in `counted`.
  func overlaps(with counted: SubscriptionHistory) -> [LinkedHistories.Overlap] {
    left.compactMap { charge, usd in
      let booking = counted.bookings.first {
        !$0.isRefund && $0.transaction == charge.transaction
      }
      guard let booking else { return nil }
      // A test purchase counts with no money.
      let countedUSD = counted.exclusion == nil ? booking.money.grossUSD : .zero
      return (counted.store, counted.events[booking.event], charge.provider, countedUSD, usd)
    }
  }

  /// The counted histories: the main provider's, with the events that only others report.
  func histories() throws(AmountOverflow) -> [SubscriptionHistory] {
    guard !events.isEmpty || !dates.isEmpty else { return [main] }
    let charges = main.held.filter { $0.reason == .doubleCharge }.map(\.event)
    let own = main.events.map { event in
      guard event.opensPurchase, let time = dates[event.transaction] else { return event }
      var event = event
      (event.time, event.periodStart) = (time, time)
      return event
    }
    var shared = try SubscriptionHistory(
      reported: GroupEvents(inBusinessOrder(main.reported + reported)),
      events: inBusinessOrder(own + charges + events).withRenewals(main.rules)
        .withConversions(main.rules),
      rules: main.rules, isChained: main.isChained)
    shared.role = .shared
    var feed = main
    feed.held = []
    feed.role = .feed(countedElsewhere: Set(main.reported.map(\.identity)))
    return [feed, shared]
  }
}

extension [Event] {
  /// How many charges and trial starts name each transaction.
  var openings: [Int64: Int] {
    lazy.filter(\.opensPurchase).reduce(into: [:]) { $0[$1.transaction, default: 0] += 1 }
  }
}
