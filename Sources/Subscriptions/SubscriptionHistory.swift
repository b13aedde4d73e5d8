public import Domain

/// The history of one subscription or one-time purchase, from its events up to as-of.
///
/// This is the fold: it computes facts from events, without clock or I/O, whatever the order of
/// arrival. `book(into:)` adds the facts of reports; reconciliation reads `state` and `findings`.
public struct SubscriptionHistory: Sendable {
  let rules: FoldSettings
  /// Counted events in business order, as reported.
  let reported: GroupEvents
  /// The same with derived events instead of observations, without charges that are left out.
  let events: [Event]
  let bookings: [Booking]
  /// Charges and refunds that the store cannot have made, which are not booked.
  var held: [HeldEvent]
  /// Its periods in order.
  public let periods: [Period]
  let stretches: [ActiveInterval]
  /// Why the subscription adds no money; nil when it does.
  let exclusion: ExclusionReason?
  /// The store, if any event names it.
  let store: Store
  let isChained: Bool
  /// Events that arrived late or out of order.
  let disorder: [ArrivalDisorder]
  /// Anomalies in single events, in business order.
  public internal(set) var findings: [FoldFinding]
  /// Whether the next run may judge its findings differently without new events.
  public let mayChange: Bool
  /// When the first event that observations prove and that does not count yet happens.
  let nextDerived: Instant?
  /// The part of it that reports count.
  var role = Role.whole
  /// What other providers reported about it and this one did not.
  var reportedByOthers: [OtherProviderReport] = []
  /// What another provider reported after its last charge; nil if nothing.
  var followedElsewhere: Continuation?

  /// What follows the last charge of a subscription.
  enum Continuation: Sendable {
    case charge
    /// A cancel, failed payment, pause, end or whole refund, and no charge; at a provider that does
    /// not count, anything.
    case end
  }

  /// The part that reports count of a subscription that several providers may report.
  enum Role: Sendable {
    /// Everything.
    case whole
    /// Only how its messages arrived. Another provider's history has the rest, including its events
    /// with these identities.
    case feed(countedElsewhere: Set<Int64>)
    /// Everything except arrivals: it consists of the events of several providers.
    case shared
  }

  /// Folds the counted versions of the events of one lineage, which must not be observations.
  ///
  /// - Throws: `AmountOverflow` when a derived amount does not fit.
  public init(events: [Event], rules: FoldSettings) throws(AmountOverflow) {
    let counted = inBusinessOrder(events, before: rules.asOf).namingBasePlans(rules.basePlans)
    try self.init(
      reported: GroupEvents(counted), events: counted, rules: rules, isChained: true)
  }

  /// Folds `events`, which `reported` proves; both are in business order.
  init(
    reported: GroupEvents, events: [Event], nextDerived: Instant? = nil, rules: FoldSettings,
    exclusion: ExclusionReason? = nil, isChained: Bool
  ) throws(AmountOverflow) {
    self.nextDerived = nextDerived
    self.rules = rules
    self.reported = reported
    store = reported.first { $0.store != .unknown }?.store ?? .unknown
    let charges = try DoubleCharges(events, rules: rules)
    let events = charges.events
    self.events = events
    self.isChained = isChained
    self.exclusion = reported.first?.environment == .sandbox ? .sandbox : exclusion
    var booking = BookingPass(events: events, rules: rules)
    try booking.run()
    booking.findTakenBack(among: charges.held)
    var pass = PeriodPass(events: events, bookings: booking.bookings, rules: rules)
    periods = pass.run()
    bookings = booking.bookings
    disorder = arrivalDisorder(of: reported, rules)
    let arrivals = arrivalFindings(disorder, reported, rules)
    let clocks = clockFindings(reported, rules)
    mayChange = clocks.mayChange
    held = charges.held + booking.held
    findings = (charges.findings + booking.findings + pass.findings + arrivals + clocks.findings)
      .sorted { $0.time < $1.time }
    stretches = activeIntervals(of: periods, events: events, rules: rules)
  }

  var isShared: Bool { if case .shared = role { true } else { false } }

  /// Whether reports count it: not tests, shared purchases or reports of a counted one.
  public var isCounted: Bool { if case .feed = role { false } else { exclusion == nil } }

  /// Keys of the lineages of its events: several if several providers report the subscription.
  public var lineages: Set<Int64> { Set(events.lazy.map(\.lineage)) }

  /// Whether it has so many events that the temporary memory of its fold matters.
  public var isLarge: Bool { events.areTooMany }

  /// Whether no event of the lineage counts yet.
  public var isEmpty: Bool { reported.isEmpty }

  func book(all books: inout Books) throws(AmountOverflow) {
    guard !reported.isEmpty else { return }
    if !isShared { try bookArrivals(into: &books) }
    if let exclusion { return try bookExcluded(exclusion, into: &books) }
    try bookHeld(into: &books)
    if !isShared { try bookArrivalHours(into: &books) }
    // Events that another provider's history counts too are only counted as excluded.
    if case .feed(let counted) = role {
      return try bookReported(as: .overlap, besides: counted, into: &books)
    }
    try bookGaps(into: &books)
    try bookRevenue(into: &books)
    guard isChained else { return }
    try bookRenewals(into: &books)
    try bookTrials(into: &books)
    try bookMovements(into: &books)
    try bookRetention(into: &books)
  }

  /// The dimensions of a row about `product` from the event at `index`.
  func productKey(_ product: StringID, from index: Int) -> ProductKey {
    let (provider, app) =
      isShared
      ? (events[index].provider, events[index].app) : (reported[0].provider, reported[0].app)
    return ProductKey(provider: provider, app: app, store: store, product: product)
  }

  /// The dimensions of a row about the product of the period at `index`.
  public func productKey(ofPeriod index: Int) -> ProductKey {
    productKey(periods[index].product, from: periods[index].opener)
  }

  /// `lineageKey` of the event that opened the period at `index`, as its provider reported it.
  public func lineage(ofPeriod index: Int) -> Int64 { events[periods[index].opener].lineage }

  /// The dimensions of a row about the booking at `index`; a refund is in the row of its charge.
  func productKey(ofBooking index: Int) -> ProductKey {
    let charge = isShared ? bookings[index].refundedCharge ?? index : index
    return productKey(bookings[index].product, from: bookings[charge].event)
  }

  func day(_ instant: Instant) -> Day { rules.calendar.day(of: instant) }
  func month(_ instant: Instant) -> Month { rules.calendar.month(of: instant) }
}
