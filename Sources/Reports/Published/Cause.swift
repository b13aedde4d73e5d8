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

/// Determines why rows of one report changed, from the options of runs and from later arrivals.
final class Causes {
  private let history: PublishedHistory
  private let definition: ReportDefinition
  private let showsMoney: Bool
  private var options: [Int64: Set<EffectiveOption>] = [:]
  private var decided: [Int64: Set<QualityRow>] = [:]
  private var arrivals: [Int64: LateArrivals] = [:]
  private var retractions: [Int64: [RetractedMonths]] = [:]

  init(_ history: PublishedHistory, _ shape: RowShape) {
    self.history = history
    definition = shape.definition
    showsMoney = definition.columns.contains { $0.format == .amount }
  }

  /// The first cause that explains a change of these columns since run `since`.
  func cause(
    of columns: Set<String>, _ product: PublishedProduct, _ month: Month, since run: Int64
  ) throws -> Cause {
    // In money reports, an event that reports a charge changes only the row of its own month; but
    // refunds count up to their charge, whatever its month.
    let isBooking = definition.completeness == .booked
    let isRefund = onlyRefunds(columns)
    let isOfOwnMonth = isBooking && sendsCharges(product) && isRefund != true
    if try isRetracted(product, month, isOfOwnMonth, since: run) { return .retraction }
    let changed = try changedOptions(since: run)
    for (cause, options) in options(of: columns, product) where !changed.isDisjoint(with: options) {
      let row = QualityRow(product: product, month: month)
      if try cause != .decision || decidedRows(since: run).contains(row) { return cause }
    }
    let arrivals = try arrivals(since: run)
    if let fields = arrivals.conflict(of: product, month, isBooking) {
      return fields.isDisjoint(with: moneyFields) || !showsMoney ? .conflict : .rateCorrection
    }
    return try isRefund ?? arrivals.hasRefund(of: product, month) ? .refund : .lateEvent
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
    return switch definition.name {
    case ReportDefinition.revenueMonthly.name, ReportDefinition.renewalsMonthly.name: true
    case ReportDefinition.trialsMonthly.name: false
    case ReportDefinition.churnMonthly.name: columns.contains("churned_refund") ? true : nil
    default: nil
    }
  }

  private func sendsCharges(_ product: PublishedProduct) -> Bool {
    product.feed?.provider.capabilities.sendsWholeCharges ?? false
  }

  private var isRevenue: Bool { definition.name == ReportDefinition.revenueMonthly.name }
  private var isQuality: Bool { definition.name == ReportDefinition.qualityMonthly.name }

  private func changedOptions(since run: Int64) throws -> Set<EffectiveOption> {
    if let known = options[run] { return known }
    let names = try history.ledger.changedOptions(from: run, to: history.plan.run)
    // Options of another program version are ignored: the version itself counts as a change.
    let changed = Set(names.compactMap(EffectiveOption.init(rawValue:)))
    options[run] = changed
    return changed
  }

  /// The rows of breaks whose decision differs from that in run `run`.
  private func decidedRows(since run: Int64) throws -> Set<QualityRow> {
    if let known = decided[run] { return known }
    let (ledger, rules) = (history.ledger, history.plan.rules)
    func verdicts(_ decisions: [Decision]) -> [String: Decision.Verdict] {
      Dictionary(decisions.map { ($0.breakID, $0.verdict) }) { $1 }
    }
    let before = verdicts(try history.plan.previousDecisions(ledger, run))
    let now = verdicts(try ledger.decisions())
    var rows: Set<QualityRow> = []
    for id in Set(before.keys).union(now.keys) where before[id] != now[id] {
      guard let found = try ledger.knownBreak(id) else { continue }
      let feed = ledger.symbol(found.app).map { Feed(provider: found.provider, app: $0) }
      let product = PublishedProduct(feed: feed, product: ledger.symbol(found.product))
      // A break without a business time counts at as-of.
      let at = found.expectedAt ?? rules.asOf - Interval(milliseconds: 1)
      rows.insert(QualityRow(product: product, month: rules.calendar.month(of: at)))
    }
    decided[run] = rows
    return rows
  }

  /// Whether the row once counted an event from retracted lines.
  private func isRetracted(
    _ product: PublishedProduct, _ month: Month, _ isOfOwnMonth: Bool, since run: Int64
  ) throws -> Bool {
    let found =
      try retractions[run] ?? history.ledger.retractions(since: run).map(\.retractedMonths)
    retractions[run] = found
    return found.contains { months in
      months.first.contains { subject, first in
        (product.feed ?? subject.feed) == subject.feed
          && (product.product ?? subject.product) == subject.product
          && (isOfOwnMonth ? subject.month == month : first <= month)
      }
    }
  }

  private func arrivals(since run: Int64) throws -> LateArrivals {
    if let known = arrivals[run] { return known }
    let found = try LateArrivals(history, since: run)
    arrivals[run] = found
    return found
  }
}

/// One product and month of the report about quality.
private struct QualityRow: Hashable {
  let product: PublishedProduct
  let month: Month
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

/// The conflicts and refunds that arrived after a run published, by subject.
private final class LateArrivals {
  private let history: PublishedHistory
  private let lastKnown: Int32
  private let ledger: Ledger
  private let conflicts: [(product: PublishedProduct, month: Month, fields: Set<String>)]
  /// The earliest month of a late refund, by product; reads all events once.
  private lazy var refunds = Result { try readRefunds() }

  init(_ history: PublishedHistory, since run: Int64) throws {
    self.history = history
    let lastKnown = try history.ledger.lastArchive(knownTo: run)
    self.lastKnown = lastKnown
    ledger = try history.plan.arrivals(history.ledger, lastKnown)
    let rules = history.plan.rules
    conflicts = try ledger.conflicts().filter { conflict in
      conflict.event.time < rules.asOf && conflict.places.contains { $0.archive > lastKnown }
    }.map { conflict in
      (
        conflict.event.publishedProduct, rules.calendar.month(of: conflict.event.time),
        Set(conflict.fields)
      )
    }
  }

  /// The fields in which versions of events differ that affect a row of `month`; nil if none.
  func conflict(of product: PublishedProduct, _ month: Month, _ isBooking: Bool) -> Set<String>? {
    let found = conflicts.filter { conflict in
      let isPresent =
        conflict.product == product
        || (conflict.fields.contains("product") && conflict.product.feed == product.feed)
      return isPresent && (isBooking ? conflict.month == month : conflict.month <= month)
    }
    return found.isEmpty ? nil : found.reduce(into: []) { $0.formUnion($1.fields) }
  }

  func hasRefund(of product: PublishedProduct, _ month: Month) throws -> Bool {
    try refunds.get()[product].map { $0 <= month } ?? false
  }

  private func readRefunds() throws -> [PublishedProduct: Month] {
    var refunds: [PublishedProduct: Month] = [:]
    let rules = history.plan.rules
    try ledger.forEachLineage { _, events in
      for event in events where event.place.archive > lastKnown && event.time < rules.asOf {
        guard event.kind == .refunded || event.kind == .purchaseRefunded else { continue }
        let month = rules.calendar.month(of: event.time)
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
