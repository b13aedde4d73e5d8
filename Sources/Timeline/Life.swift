public import Vocabulary

/// The life of one lineage as its events tell it up to as-of.
///
/// This is the fold: events in, meaning out; no clock, no I/O, and nothing depends on the order
/// in which the events came. What a life means for the reports is added by `book(into:)`, what it
/// means for reconciliation is in `state` and `findings`.
public struct Life: Sendable {
  let rules: Rules
  /// Counted events in business order.
  let events: [Event]
  let bookings: [Booking]
  let periods: [Period]
  let stretches: [ActiveStretch]
  /// Odd things in single events, in business order.
  public let findings: [FoldFinding]

  /// Folds the events of one lineage.
  ///
  /// - Parameters:
  ///   - events: the counted version of every event of one lineage, in any order.
  ///   - rules: as-of and the settings of the run.
  /// - Throws: `AmountOverflow` when a derived amount does not fit.
  public init(events: [Event], rules: Rules) throws(AmountOverflow) {
    self.rules = rules
    self.events = inBusinessOrder(events, before: rules.asOf)
    var ledger = BookingPass(rules: rules)
    for index in self.events.indices { try ledger.read(self.events[index], at: index) }
    var pass = PeriodPass(events: self.events, bookings: ledger.bookings, rules: rules)
    periods = pass.run()
    bookings = ledger.bookings
    findings = (ledger.findings + pass.findings).sorted { $0.time < $1.time }
    stretches = activeStretches(of: periods, events: self.events, rules: rules)
  }

  /// Whether no event of the lineage counts yet.
  public var isEmpty: Bool { events.isEmpty }

  /// Adds what this life means to the reports.
  ///
  /// Sandbox traffic only counts as excluded.
  ///
  /// - Throws: `AmountOverflow` when a sum leaves the range of the ledger.
  public func book(into facts: inout Facts) throws(AmountOverflow) {
    guard let first = events.first else { return }
    bookArrivals(into: &facts)
    guard first.environment == .production else { return bookExcluded(into: &facts) }
    try bookRevenue(into: &facts)
    bookRenewals(into: &facts)
    bookTrials(into: &facts)
    try bookMovements(into: &facts)
    try bookRecurringRevenue(into: &facts)
    try bookRetention(into: &facts)
  }

  /// The dimensions of a row about `product`.
  func offering(_ product: Symbol) -> Offering {
    let first = events[0]
    return Offering(
      provider: first.provider, app: first.app, store: first.store, product: product)
  }

  func day(_ instant: Instant) -> Day { rules.calendar.day(of: instant) }
}
