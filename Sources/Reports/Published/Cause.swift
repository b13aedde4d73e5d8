internal import EventStore
internal import Domain

/// Why a published number changed; if several causes apply, the first counts.
enum Cause: String, CaseIterable, Comparable {
  /// Lines were retracted from the ledger, or restored.
  case retraction
  /// The program or a setting now counts differently.
  case definitionChange = "definition_change"
  /// The price book or the money of a charge changed.
  case rateCorrection = "rate_correction"
  /// Products were mapped differently, or have other periods.
  case productMap = "product_map"
  /// A person decided about breaks.
  case decision
  /// Another version of a known event arrived.
  case conflict
  /// A refund arrived.
  case refund
  /// Anything else that arrived late.
  case lateEvent = "late_event"
  /// None of these: the month was closed by force while the row could still change.
  case incomplete

  static func < (left: Cause, right: Cause) -> Bool { left.rank < right.rank }

  private var rank: Int { Self.allCases.firstIndex(of: self) ?? Self.allCases.count }
}

extension ReportDefinition {
  /// The first of the `changes` since a row was published that explains how these columns changed.
  func cause(
    of columns: Set<String>, _ product: PublishedProduct, _ month: Month, _ changes: LaterChanges
  ) throws -> Cause {
    // In money reports, an event that reports a charge changes only the row of its own month; but
    // refunds count up to their charge, whatever its month.
    let isBooking = completeness == .booked
    let isRefund = onlyRefunds(columns)
    let isOfOwnMonth = isBooking && sendsCharges(product) && isRefund != true
    if try changes.hasRetraction(of: product, month, isOfOwnMonth) { return .retraction }
    let changed = try changes.options.get()
    for (cause, options) in options(of: columns, product) where !changed.isDisjoint(with: options) {
      if try cause != .decision || changes.hasDecision(about: product, month) { return cause }
    }
    if let fields = try changes.conflict(of: product, month, isBooking) {
      let showsMoney = self.columns.contains { $0.format == .amount }
      return fields.isDisjoint(with: moneyFields) || !showsMoney ? .conflict : .rateCorrection
    }
    return try isRefund ?? changes.hasRefund(of: product, month) ? .refund : .lateEvent
  }

  /// The options that can change such a row, with the cause that a change of them is.
  private func options(
    of columns: Set<String>, _ product: PublishedProduct
  ) -> [(cause: Cause, options: Set<EffectiveOption>)] {
    // The price book never replaces money that the provider sends, but can supply lengths of
    // periods, which determine the kind of a charge that is sent without one.
    let isSentMoney = sendsCharges(product) && isRevenue
    let isAboutBreaks = columns.isSubset(of: ["churned_in_doubt"]) || isQuality
    return [
      (
        .definitionChange,
        [
          .version, .renewalGap, .retryHorizon, .freshnessMax, .historyBegins, .deliveryWindow,
          .eventNames, .snapshotsComplete, .snapshotsFromWebhooks, .doubleCharges, .authority,
        ]
      ),
      (.rateCorrection, isSentMoney ? [] : [.pricesSHA256]),
      (.productMap, isAboutBreaks ? [.products, .periods] : isSentMoney ? [] : [.periods]),
      (.decision, isQuality ? [.decisions] : []),
    ]
  }

  /// Whether only refunds change all of these columns; nil if the columns cannot show it.
  private func onlyRefunds(_ columns: Set<String>) -> Bool? {
    guard columns.isDisjoint(with: columnsWithoutRefunds) else { return false }
    return switch name {
    case ReportDefinition.revenueMonthly.name, ReportDefinition.renewalsMonthly.name: true
    case ReportDefinition.trialsMonthly.name: false
    case ReportDefinition.churnMonthly.name: columns.contains("churned_refund") ? true : nil
    default: nil
    }
  }

  private func sendsCharges(_ product: PublishedProduct) -> Bool {
    product.feed?.provider.capabilities.sendsWholeCharges ?? false
  }

  private var isRevenue: Bool { name == ReportDefinition.revenueMonthly.name }
  private var isQuality: Bool { name == ReportDefinition.qualityMonthly.name }
}

/// Columns that no refund changes.
private let columnsWithoutRefunds: Set<String> = [
  "charges", "gross_usd", "gross_local", "renewals", "new", "first_seen", "eligible",
]

/// Fields of an event that hold money, by their names in conflicts.
private let moneyFields: Set<String> = [
  "revenue", "revenue_local", "revenue_usd", "currency", "is_proceed", "proceeds_rate", "price",
  "price_local", "price_usd", "price_currency",
]

/// What changed after a run published; each part is read when it is needed, and once.
final class LaterChanges {
  /// The options that differ now; those of another program version are ignored, because the version
  /// itself counts as a change.
  private(set) lazy var options = Result {
    Set(try own.changedOptions(from: run, to: plan.run).compactMap(EffectiveOption.init))
  }
  /// The months of breaks whose decision differs now, by product.
  private lazy var decisions = Result { try readDecisions() }
  private lazy var retractions = Result {
    try own.retractions(since: run).map { $0.retractedMonths(in: plan.zone) }
  }
  /// The last archive known to the run, and a ledger with the events of later ones.
  private lazy var arrivals = Result {
    let last = try own.lastArchive(knownTo: run)
    return (last, ledger: try plan.arrivals(own, last))
  }
  private lazy var conflicts = Result {
    let (last, ledger) = try arrivals.get()
    return try ledger.conflicts().filter { conflict in
      conflict.event.time < plan.rules.asOf && conflict.places.contains { $0.archive > last }
    }.map { conflict in
      let month = plan.rules.calendar.month(of: conflict.event.time)
      return (conflict.event.publishedProduct, month, Set(conflict.fields))
    }
  }
  /// The earliest month of a late refund, by product; reads all events.
  private lazy var refunds = Result { try readRefunds() }
  private let run: Int64
  private let plan: ReportPlan
  private let own: Ledger

  init(_ ledger: Ledger, _ plan: ReportPlan, since run: Int64) {
    (own, self.plan, self.run) = (ledger, plan, run)
  }

  /// Whether the row once counted an event from retracted lines.
  func hasRetraction(
    of product: PublishedProduct, _ month: Month, _ isOfOwnMonth: Bool
  ) throws -> Bool {
    try retractions.get().contains { months in
      months.first.contains { subject, first in
        (product.feed ?? subject.feed) == subject.feed
          && (product.product ?? subject.product) == subject.product
          && (isOfOwnMonth ? subject.month == month : first <= month)
      }
    }
  }

  func hasDecision(about product: PublishedProduct, _ month: Month) throws -> Bool {
    try decisions.get()[product]?.contains(month) ?? false
  }

  /// The fields in which versions of events differ that affect a row of `month`; nil if none.
  func conflict(
    of product: PublishedProduct, _ month: Month, _ isBooking: Bool
  ) throws -> Set<String>? {
    let found = try conflicts.get().compactMap { changed, at, fields -> Set<String>? in
      let isPresent =
        changed == product || fields.contains("product") && changed.feed == product.feed
      return isPresent && (isBooking ? at == month : at <= month) ? fields : nil
    }
    return found.isEmpty ? nil : found.reduce(into: []) { $0.formUnion($1) }
  }

  func hasRefund(of product: PublishedProduct, _ month: Month) throws -> Bool {
    try refunds.get()[product].map { $0 <= month } ?? false
  }

  private func readDecisions() throws -> [PublishedProduct: Set<Month>] {
    func verdicts(_ decisions: [Decision]) -> [String: Decision.Verdict] {
      Dictionary(decisions.map { ($0.breakID, $0.verdict) }) { $1 }
    }
    let before = verdicts(try plan.previousDecisions(own, run))
    let now = verdicts(try own.decisions())
    var months: [PublishedProduct: Set<Month>] = [:]
    for id in Set(before.keys).union(now.keys) where before[id] != now[id] {
      guard let found = try own.knownBreak(id) else { continue }
      let feed = own.symbol(found.app).map { Feed(provider: found.provider, app: $0) }
      let product = PublishedProduct(feed: feed, product: own.symbol(found.product))
      // A break without a business time counts at as-of.
      let at = found.expectedAt ?? plan.rules.asOf - Interval(milliseconds: 1)
      months[product, default: []].insert(plan.rules.calendar.month(of: at))
    }
    return months
  }

  private func readRefunds() throws -> [PublishedProduct: Month] {
    let (last, ledger) = try arrivals.get()
    var refunds: [PublishedProduct: Month] = [:]
    try ledger.forEachLineage { _, events in
      for event in events where event.place.archive > last && event.time < plan.rules.asOf {
        guard event.kind == .refunded || event.kind == .purchaseRefunded else { continue }
        let month = plan.rules.calendar.month(of: event.time)
        let earliest = refunds[event.publishedProduct] ?? month
        refunds[event.publishedProduct] = min(month, earliest)
      }
    }
    return refunds
  }
}

extension Event {
  var publishedProduct: PublishedProduct {
    PublishedProduct(feed: Feed(provider: provider, app: app), product: product)
  }
}
