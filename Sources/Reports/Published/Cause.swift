internal import EventStore
internal import Domain

/// Why a published number changed; of several causes the first counts.
enum Cause: String, CaseIterable, Comparable {
  /// The program or a setting counts otherwise.
  case definitionChange = "definition_change"
  /// The price book, or the money of a charge, is another.
  case rateCorrection = "rate_correction"
  /// Products were mapped otherwise, or have other periods.
  case productMap = "product_map"
  /// People decided otherwise about breaks.
  case decision
  /// Another version of a known event came.
  case conflict
  /// A refund came.
  case refund
  /// Anything else came late.
  case lateEvent = "late_event"
  /// Nothing of that: the row could still change when the month was closed by force.
  case incomplete

  static func < (left: Cause, right: Cause) -> Bool { left.rank < right.rank }

  private var rank: Int { Self.allCases.firstIndex(of: self) ?? Self.allCases.count }
}

/// Finds out why rows of one report changed, from what runs were told.
final class Causes {
  private let history: PublishedHistory
  private let shape: RowShape
  private var options: [Int64: Set<EffectiveOption>] = [:]
  private var arrivals: [Int64: LateArrivals] = [:]

  init(_ history: PublishedHistory, _ shape: RowShape) {
    self.history = history
    self.shape = shape
  }

  /// The first cause that fits what has changed since the run that last published the row.
  func cause(of change: RowChange, _ month: Month) throws -> Cause {
    let changed = try changedOptions(since: change.since)
    for cause in [Cause.definitionChange, .rateCorrection, .productMap, .decision]
    where !changed.isDisjoint(with: options(behind: cause, change)) {
      return cause
    }
    let arrivals = try arrivals(since: change.since)
    guard let row = change.restated ?? change.published else { return .lateEvent }
    if let fields = arrivals.conflict(at: shape.productKey(of: row), month, isBooking) {
      return fields.isDisjoint(with: moneyFields) || !showsMoney ? .conflict : .rateCorrection
    }
    let names = Set(change.columns.map { shape.layout.columns[$0].name })
    if let tells = tellsRefund(names) { return tells ? .refund : .lateEvent }
    let hasRefund = try arrivals.hasRefund(at: shape.productKey(of: row), month)
    return hasRefund ? .refund : .lateEvent
  }

  /// The strongest cause of each row's changes in versions that runs after `run` published.
  func published(_ month: Month, after run: Int64) throws -> [ExactText: Cause] {
    guard run + 1 < history.plan.run else { return [:] }
    let versions = try history.ledger.publishedCauses(
      of: shape.layout.name, zone: history.plan.zone, month: month,
      runs: run + 1...history.plan.run - 1)
    var causes: [ExactText: Cause] = [:]
    for version in versions {
      for record in RowRecord.rows(of: version) {
        guard let cause = record.fields.first.flatMap(Cause.init(rawValue:)) else { continue }
        let key = ExactText(record.fields.dropFirst().joined(separator: ","))
        causes[key] = min(cause, causes[key] ?? cause)
      }
    }
    return causes
  }

  /// The options that have an effect on such a row, by the cause that they are.
  private func options(behind cause: Cause, _ change: RowChange) -> Set<EffectiveOption> {
    let row = change.restated ?? change.published
    let names = Set(change.columns.map { shape.layout.columns[$0].name })
    switch cause {
    case .definitionChange:
      return [
        .version, .renewalGap, .retryHorizon, .freshnessMax, .deliveryWindow, .eventNames,
        .snapshotsComplete,
      ]
    case .rateCorrection:
      // Money that is sent is never that of the list, but lengths of its periods can be.
      let isTold = row.map(shape.hasSentMoney) ?? false
      return isTold && isRevenue ? [] : [.pricesSHA256]
    case .productMap:
      let isAboutBreaks = names.isSubset(of: ["churned_in_doubt"]) || isQuality
      return isAboutBreaks ? [.products, .periods] : isRevenue ? [] : [.periods]
    case .decision: return isQuality ? [.decisions] : []
    case .conflict, .refund, .lateEvent, .incomplete: return []
    }
  }

  /// Whether the columns that differ are those that only refunds move; nil when they do not say.
  private func tellsRefund(_ names: Set<String>) -> Bool? {
    switch shape.layout.name {
    case ReportDefinition.revenueMonthly.name: names.isDisjoint(with: chargeColumns)
    case ReportDefinition.renewalsMonthly.name: !names.contains("renewals")
    case ReportDefinition.churnMonthly.name: names.contains("churned_refund") ? true : nil
    default: nil
    }
  }

  private var isRevenue: Bool { shape.layout.name == ReportDefinition.revenueMonthly.name }
  private var isQuality: Bool { shape.layout.name == ReportDefinition.qualityMonthly.name }
  /// Whether an event moves the row of its own month alone.
  private var isBooking: Bool { shape.layout.completeness == .booked }

  private var showsMoney: Bool {
    shape.layout.columns.contains { if case .amount = $0.format { true } else { false } }
  }

  private func changedOptions(since run: Int64) throws -> Set<EffectiveOption> {
    if let known = options[run] { return known }
    let names = try history.ledger.changedOptions(from: run, to: history.plan.run)
    // Those of another version of the program are none of ours; the version tells of them.
    let changed = Set(names.compactMap(EffectiveOption.init(rawValue:)))
    options[run] = changed
    return changed
  }

  private func arrivals(since run: Int64) throws -> LateArrivals {
    if let known = arrivals[run] { return known }
    let found = try LateArrivals(history, since: run)
    arrivals[run] = found
    return found
  }
}

/// What a charge moves and a refund does not.
private let chargeColumns: Set<String> = ["charges", "gross_usd", "gross_local"]

/// Fields of an event that are money, as conflicts name them.
private let moneyFields: Set<String> = [
  "revenue", "revenue_local", "revenue_usd", "currency", "is_proceed", "proceeds_rate", "price",
  "price_local", "price_usd", "price_currency",
]
