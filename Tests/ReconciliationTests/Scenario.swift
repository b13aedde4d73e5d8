import Reconciliation
import Testing
import Subscriptions
@testable import Domain

/// Day `2026-01-31`, or an instant `2026-01-31T12:00:00`, in UTC.
func at(_ text: String) -> Instant {
  let parts = text.split(whereSeparator: { "-T:".contains($0) }).compactMap { Int64($0) }
  let day = Day(year: Int(parts[0]), month: Int(parts[1]), day: Int(parts[2]))
  let clock = parts.count > 3 ? parts[3] * 3600 + parts[4] * 60 + parts[5] : 0
  return Instant(seconds: Int64(day.number) * 86_400 + clock)
}

/// The first of a month of 2026, or of a later year when `month` is above 12.
func month(_ month: Int) -> String {
  let (year, rest) = (2026 + (month - 1) / 12, (month - 1) % 12 + 1)
  return "\(year)-\(rest < 10 ? "0" : "")\(rest)-01"
}

/// Maps the snapshots' name of every product in `Story`.
func allMapped(_ rules: inout ReconciliationSettings) {
  rules.products = [
    "monthly": ["com.example.monthly"], "yearly": ["com.example.yearly"],
    "weekly": ["com.example.weekly"],
  ]
}

extension ReconciliationSettings {
  /// Lists `product` at seven US dollars in the App Store.
  mutating func listAtSeven(_ product: String) {
    let price = PriceBook.Price(validFrom: at("2025-01-01"), usd: Amount(micros: 7_000_000))
    fold.prices.add(price, store: .appStore, product: strings.symbol(product))
  }
}

/// Events of one subscription, reported one after another and folded by the program.
struct Story {
  static let monthly: StringID = 1
  static let yearly: StringID = 2
  static let words = [
    "", "com.example.monthly", "com.example.yearly", "com.example.weekly", "pro:base", "pro",
  ]
  var original = "100"
  var environment = Environment.production
  var user = "ada"
  var app = "app"
  var events: [Event] = []

  /// Reports an event of `transaction`; with a price it has revenue.
  mutating func report(
    _ kind: EventKind, _ time: String, until end: String? = nil, transaction: Int64 = 100,
    price: Int64? = nil, count: Int32? = nil, product: StringID = Self.monthly,
    _ change: (inout Event) -> Void = { _ in }
  ) {
    var event = Event(environment: environment, store: .appStore, kind: kind, time: at(time))
    event.lineage = transactionKey(original)
    event.product = product
    event.identity = Int64(events.count + 1)
    event.transaction = transaction
    event.startsLineage = String(transaction) == original
    event.periodStart = event.time
    event.periodEnd = end.map { at($0) }
    event.renewalCount = count
    event.revenue = price.map {
      Revenue(
        local: Amount(micros: $0 * 1_000_000), usd: Amount(micros: $0 * 1_000_000), currency: 9,
        isProceed: false, rate: Amount(micros: 70_000_000))
    }
    change(&event)
    events.append(event)
  }

  /// A start in January and `renewals` monthly renewals with the provider's counter; the
  /// transaction ids are 100, 101, ….
  static func monthly(renewals: Int, without lost: Set<Int> = [], counted: Bool = true) -> Story {
    var story = Story()
    for step in 0...renewals where !lost.contains(step) {
      story.report(
        step == 0 ? .started : .renewed, month(step + 1), until: month(step + 2),
        transaction: 100 + Int64(step), price: 10, count: counted ? Int32(step) : nil)
    }
    return story
  }

  /// A weekly subscription that was paid once, canceled and ended.
  static func endedWeek(from start: String, canceled: String, until end: String) -> Story {
    var story = Story(original: "200")
    story.report(.started, start, until: end, transaction: 200, price: 3, product: 3)
    story.report(.canceled, canceled, until: end, transaction: 200, product: 3)
    story.report(.expired, end, until: end, transaction: 200, product: 3)
    return story
  }

  /// A free week from the first of January.
  static var trial: Story {
    var story = Story()
    story.report(.trialStarted, "2026-01-01", until: "2026-01-08")
    return story
  }

  /// Reports a cancel, and an expiry at the paid end.
  mutating func reportEnd(canceled: String, until end: String, transaction: Int64 = 100) {
    report(.canceled, canceled, until: end, transaction: transaction)
    report(.expired, end, until: end, transaction: transaction)
  }

  func lineage(until instant: Instant, asOf: Instant? = nil) -> LineageInput? {
    guard let state = state(instant) else { return nil }
    return LineageInput(
      state: state, current: asOf.flatMap { self.state($0, since: instant) }, original: original,
      user: user, app: app, words: Self.words)
  }

  private func state(_ instant: Instant, since: Instant? = nil) -> LineageState? {
    do {
      let history = try SubscriptionHistory(events: events, rules: FoldSettings(asOf: instant))
      return since.map { history.state(since: $0) } ?? history.state
    } catch {
      Issue.record("\(error)")
      return nil
    }
  }
}

/// One user's reconciliation, with the contract's defaults; `provider` reports all events.
struct Scenario {
  var stories: [Story] = []
  var entitlements: [Entitlement]? = []
  var capturedAt: String
  var asOf: String?
  var firstEventAt = "2025-12-01"
  var watermark: String?
  var user = "ada"
  var provider = Provider.qonversion
  var change: (inout ReconciliationSettings) -> Void = { _ in }

  var outcome: ReconciliationResult {
    var stories = stories
    for story in stories.indices {
      for event in stories[story].events.indices {
        stories[story].events[event].provider = provider
      }
    }
    let captured = at(capturedAt)
    let asOf = asOf.map { at($0) } ?? captured
    var rules = ReconciliationSettings(fold: FoldSettings(asOf: asOf))
    rules.products = ["monthly": ["com.example.monthly"]]
    rules.feeds = [
      Watermark(
        of: Feed(provider: provider, app: 0), app: "app",
        newest: watermark.map { at($0) } ?? asOf, begin: at(firstEventAt))
    ]
    // Of some user.
    rules.snapshotsTakenAt = [provider: ["": min(asOf, captured)]]
    change(&rules)
    let snapshot = entitlements.map {
      Snapshot(provider: provider, user: user, capturedAt: captured, entitlements: $0)
    }
    let reported = stories.map { $0.lineage(until: captured, asOf: asOf) }
    let newer = stories.indices.filter { reported[$0] == nil }
      .compactMap { stories[$0].lineage(until: asOf) }
    return reconcile(
      ReconciliationInput(
        provider: provider, user: user, snapshot: snapshot, lineages: reported.compactMap(\.self),
        newerLineages: newer),
      rules: rules, checkStop: {})
  }

  var breaks: [Break] { outcome.breaks }
  var codes: [String] { breaks.map(\.code.rawValue).sorted() }
}

extension Scenario {
  /// One subscription, and the entitlement that a snapshot shows; nil without a snapshot.
  init(
    _ story: Story, shown: Entitlement?, at capturedAt: String, asOf: String? = nil,
    firstEventAt: String = "2025-12-01", provider: Provider = .qonversion,
    change: @escaping (inout ReconciliationSettings) -> Void = { _ in }
  ) {
    self.init(
      stories: [story], entitlements: shown.map { [$0] }, capturedAt: capturedAt, asOf: asOf,
      firstEventAt: firstEventAt, provider: provider, change: change)
  }
}

/// A transaction as the SDK lists it.
func bought(
  _ id: Int, _ kind: SnapshotTransactionKind, _ time: String, until end: String? = nil,
  revoked: String? = nil, _ change: (inout SnapshotTransaction) -> Void = { _ in }
) -> SnapshotTransaction {
  var transaction = SnapshotTransaction(
    id: String(id), originalID: "100", kind: kind, at: at(time), expiresAt: end.map { at($0) },
    revokedAt: revoked.map { at($0) })
  change(&transaction)
  return transaction
}

/// The monthly subscription as a snapshot shows it.
func premium(
  active: Bool? = true, until end: String? = nil, _ state: RenewState? = .willRenew,
  product: String = "monthly", started: String? = nil, count: Int32? = nil,
  listing transactions: [SnapshotTransaction] = []
) -> Entitlement {
  Entitlement(
    id: "premium", product: product, isActive: active, startedAt: started.map { at($0) },
    expiresAt: end.map { at($0) }, renewState: state, renewsCount: count, store: .appStore,
    transactions: transactions)
}

/// All transactions of `Story.monthly`.
func monthlyTransactions(renewals: Int) -> [SnapshotTransaction] {
  (0...renewals).map {
    bought(100 + $0, $0 == 0 ? .started : .renewed, month($0 + 1), until: month($0 + 2))
  }
}
