import Testing
import Domain

@testable import Subscriptions

/// Day `2026-01-31`, or an instant `2026-01-31T12:00:00`, in UTC.
func at(_ text: String) -> Instant {
  let parts = text.split(whereSeparator: { "-T:".contains($0) }).compactMap { Int64($0) }
  let day = Day(year: Int(parts[0]), month: Int(parts[1]), day: Int(parts[2]))
  let clock = parts.count > 3 ? parts[3] * 3600 + parts[4] * 60 + parts[5] : 0
  return Instant(seconds: Int64(day.number) * 86_400 + clock)
}

/// A time zone this many hours east of UTC.
func zone(_ hours: Int64) -> CivilCalendar {
  CivilCalendar(
    identifier: "Elsewhere", offsets: [(Instant(milliseconds: .min), hours * 3600)])
}

/// Millionths from a decimal such as `9.99`.
func usd(_ text: String) -> Amount {
  let parts = text.split(separator: ".")
  let fraction = parts.count > 1 ? String(parts[1]) : ""
  let padded = fraction + String(repeating: "0", count: 6 - fraction.count)
  return Amount(micros: (Int64(parts[0]) ?? 0) * 1_000_000 + (Int64(padded) ?? 0))
}

/// Changes from the monthly to the yearly product.
func toYearly(_ event: inout Event) {
  (event.product, event.previousProduct) = (Story.yearly, Story.monthly)
}

/// Events of one lineage, reported one after another.
struct Story {
  static let monthly: StringID = 1
  static let yearly: StringID = 2
  var events: [Event] = []
  private var transaction: Int64 = 100

  /// A subscription that was bought for 10 dollars.
  static func paid(_ start: String, until end: String) -> Story {
    var story = Story()
    story.report(.started, start, until: end, price: "10")
    return story
  }

  /// Reports an event; charges get a new transaction id, other events the last one.
  @discardableResult
  mutating func report(
    _ kind: EventKind, _ time: String, until end: String? = nil, price: String? = nil,
    _ change: (inout Event) -> Void = { _ in }
  ) -> Event {
    var event = Event(kind: kind, time: at(time))
    event.store = .appStore
    event.lineage = 1
    event.product = Self.monthly
    event.identity = Int64(events.count + 1)
    if event.chargeKind != nil || kind == .trialStarted || kind.isProductChange {
      transaction += 1
    }
    event.transaction = transaction
    event.startsLineage = transaction == 101
    event.periodStart = event.time
    event.periodEnd = end.map { at($0) }
    if let price {
      event.revenue = Revenue(
        local: usd(price), usd: usd(price), currency: 9, isProceed: false,
        rate: Amount(micros: 70_000_000))
    }
    change(&event)
    events.append(event)
    return event
  }

  func history(asOf: String, _ change: (inout FoldSettings) -> Void = { _ in }) throws
    -> SubscriptionHistory
  {
    var rules = FoldSettings(asOf: at(asOf))
    change(&rules)
    return try SubscriptionHistory(events: events, rules: rules)
  }

  func facts(asOf: String, _ change: (inout FoldSettings) -> Void = { _ in }) throws
    -> BookedHistories
  {
    try BookedHistories([history(asOf: asOf, change)])
  }
}

/// Checks that a subscription's contributions to facts can be removed again.
private func expectWithdrawable(_ history: SubscriptionHistory) throws {
  var facts = Facts()
  try history.book(into: &facts)
  try history.book(-1, into: &facts)
  facts.removeZeros()
  #expect(facts == Facts())
}

/// The facts of some subscriptions, and the days of their movements.
@dynamicMemberLookup
struct BookedHistories: Equatable {
  var facts = Facts()
  private var days: [Movement: [Day: Int64]] = [:]

  init(_ histories: [SubscriptionHistory]) throws {
    for history in histories {
      try history.book(into: &facts)
      try expectWithdrawable(history)
      for share in try history.shares() {
        guard case .movement(let key, let sums) = share.cell else { continue }
        let day = CivilCalendar.utc.day(of: share.at)
        days[key.movement, default: [:]][day, default: 0] += sums.subscriptions
      }
    }
  }

  subscript<Part>(dynamicMember part: KeyPath<Facts, Part>) -> Part { facts[keyPath: part] }

  /// The days of a movement.
  func days(_ movement: Movement) -> [String] {
    days[movement, default: [:]].filter { $0.value != 0 }.map(\.key.text).sorted()
  }
}

extension BookedHistories {
  /// Subscriptions in a movement, over all days and rows.
  func count(_ movement: Movement, in month: String? = nil, product: StringID? = nil) -> Int64 {
    facts.movements.reduce(0) { sum, cell in
      guard cell.key.movement == movement, month == nil || cell.key.month.text == month,
        product == nil || cell.key.productKey.product == product
      else { return sum }
      return sum + cell.value.subscriptions
    }
  }

  /// Recurring revenue in a movement, over all days and rows.
  func mrr(_ movement: Movement, product: StringID? = nil) -> String {
    var sum = Amount.zero
    for (key, value) in facts.movements
    where key.movement == movement && (product == nil || key.productKey.product == product) {
      sum.micros += value.mrr.micros
    }
    return sum.text()
  }

  /// One money measure over all cells.
  func total(_ measure: KeyPath<RevenueSums, PartialSum>) -> String {
    Amount(micros: facts.revenue.values.reduce(0) { $0 + $1[keyPath: measure].sum.micros }).text()
  }
}
