import Testing
import Domain

@testable import Subscriptions

/// What a provider without kinds, money or lasting ids sends about one user.
struct StateFeed {
  static let monthly: StringID = 1
  static let yearly: StringID = 2
  var provider: Provider
  var events: [Event] = []

  /// What `provider` sends; with `started`, a purchase first.
  init(_ provider: Provider, started: String? = nil) {
    self.provider = provider
    if let started { report(.started, started) }
  }

  /// Reports an event in `lineage`; its transaction has the same id unless changed.
  mutating func report(
    _ kind: EventKind, _ time: String, of lineage: Int64 = 10,
    _ change: (inout Event) -> Void = { _ in }
  ) {
    var event = Event(provider: provider, store: .appStore, kind: kind, time: at(time))
    event.user = 7
    event.lineage = lineage
    event.transaction = lineage
    event.product = Self.monthly
    event.identity = Int64(events.count + 1)
    change(&event)
    event.startsLineage = [0, event.lineage].contains(event.transaction)
    events.append(event)
  }

  /// Shows the state of `transaction`, owned and renewing unless changed.
  mutating func show(
    _ time: String, _ transaction: Int64, until end: String?, of lineage: Int64? = nil,
    _ change: (inout Event, inout Observation) -> Void = { _, _ in }
  ) {
    report(.observed, time, of: lineage ?? transaction) {
      var state = Observation()
      state.productType = end == nil ? .oneTime : .subscription
      state.isOwned = true
      state.isAutoRenewing = end == nil ? nil : true
      $0.transaction = transaction
      $0.periodEnd = end.map { at($0) }
      change(&$0, &state)
      $0.observation = state
    }
  }

  func histories(asOf: String, _ change: (inout FoldSettings) -> Void = { _ in }) throws
    -> [SubscriptionHistory]
  {
    var rules = FoldSettings(asOf: at(asOf))
    change(&rules)
    return try Subscriptions.histories(of: events, rules: rules)
  }

  func facts(asOf: String, _ change: (inout FoldSettings) -> Void = { _ in }) throws
    -> BookedHistories
  {
    try BookedHistories(histories(asOf: asOf, change))
  }

  /// Kind and time of the events of the only subscription, one per line.
  func history(asOf: String = "2027-01-01") throws -> [String] {
    let histories = try histories(asOf: asOf)
    #expect(histories.count == 1)
    return histories.first?.events.map { "\($0.kind.name) \(text($0.time))" } ?? []
  }
}

/// Makes the lengths of the products known.
func lengths(_ rules: inout FoldSettings) {
  rules.periods = [StateFeed.monthly: .months(1), StateFeed.yearly: .months(12)]
}

/// An instant as `2026-01-31`, or `2026-01-31T12:00:00`.
func text(_ instant: Instant) -> String {
  let day = CivilCalendar.utc.day(of: instant)
  let second = instant.milliseconds / 1000 - Int64(day.number) * 86_400
  guard second > 0 else { return day.text }
  let parts = [second / 3600, second / 60 % 60, second % 60].map { $0 < 10 ? "0\($0)" : "\($0)" }
  return "\(day.text)T\(parts.joined(separator: ":"))"
}

extension BookedHistories {
  func count(_ gap: CoverageGap) -> Int64 {
    facts.gaps.reduce(0) { $0 + ($1.key.gap == gap ? $1.value : 0) }
  }

  var renewalOrdinals: [Int64?] {
    facts.renewals.flatMap { Array(repeating: $0.key.ordinal, count: Int($0.value.renewals)) }
      .sorted { ($0 ?? 0) < ($1 ?? 0) }
  }

  func charges(_ kind: ChargeKind) -> Int64 {
    facts.revenue.reduce(0) { $0 + ($1.key.chargeKind == kind ? $1.value.charges : 0) }
  }
}
