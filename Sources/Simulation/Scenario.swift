public import Domain

/// A format of the provider's answer to "what does this user own".
enum SnapshotShape: String, CaseIterable, Sendable {
  case v3
  case v4
  case purchases
  case sdk
  case sdkObject = "sdk-object"
  case canonical
}

/// The content of `entitlements` in a webhook.
public enum WebhookEntitlements: String, CaseIterable, Sendable {
  /// The access that the event concerns.
  case ofEvent = "event"
  /// The user's true access when the message is created.
  case current
  /// The user's true access at the event, however late the message is created.
  case stale
}

/// A migration of the first app's users, in the mobile stores, from one provider to another.
public struct Migration: Sendable, Equatable {
  /// Who reports them until the end of `both`.
  public var from: Provider
  /// Who reports them from the start of `both`.
  public var to: Provider
  /// When both report the same store transactions.
  public var both: ClosedRange<Instant>

  /// A migration from one provider to another.
  public init(from: Provider, to: Provider, both: ClosedRange<Instant>) {
    (self.from, self.to, self.both) = (from, to, both)
  }

  func moves(_ shop: Shop) -> Bool {
    shop.app == .pro && shop.store != .stripe && [from, to].contains(shop.provider)
  }
}

/// The settings of a simulation.
///
/// Shares are in events or subscribers per million.
public struct Scenario: Sendable, Equatable {
  /// Equal scenarios with equal seeds give equal bytes.
  public var seed: UInt64
  /// Number of people; not used when `events` is set.
  public var subscribers: Int
  /// Calendar months from the start of 2025, when the archives begin, to the end, 1–120.
  public var months: Int
  /// Number of archives, with equally many lines in order of delivery; nil for one per UTC day.
  public var archives: Int?
  /// Number of events after which no more subscribers are added; nil to use `subscribers`.
  public var events: Int?
  /// Events that are never delivered.
  public var lostShare = 2_000
  /// Events that are delivered more than once.
  public var duplicatedShare = 30_000
  /// Events whose first attempts failed, so that they arrive on the provider's retry schedule.
  public var delayedShare = 20_000
  /// Events delivered out of order with the next event of the same subscriber.
  public var reorderedShare = 10_000
  /// Periods in which the endpoint accepts nothing.
  public var outages: [ClosedRange<Instant>] = []
  /// UTC days whose deliveries are missing from the archives.
  public var absentDays: [Day] = []
  /// Faults of Qonversion's feed, per million events that each fault can affect.
  public var faultShares: [FeedFault: Int] = [:]
  /// The content of `entitlements` in Qonversion's webhooks.
  public var entitlements = WebhookEntitlements.ofEvent
  /// How many days before its capture an SDK's snapshot was current.
  public var staleDays = 0
  /// Subscribers whose whole history is in the sandbox.
  public var sandboxShare = 20_000
  /// Deliveries archived inside an envelope with receive time and headers.
  public var envelopedShare = 500_000
  /// Providers that send events; each has its own apps, in which the same people buy the same.
  public var providers: [Provider] = [.qonversion]
  /// A migration between two of them; nil for none.
  public var migration: Migration?

  /// A scenario of `subscribers` over `months`, with small shares of each disorder.
  public init(seed: UInt64, subscribers: Int = 1_000, months: Int = 24) {
    self.seed = seed
    self.subscribers = subscribers
    self.months = months
  }

  var span: TimeSpan { TimeSpan(self) }

  var senders: [Provider] { Provider.allCases.filter(providers.contains) }

  func check() throws(SubledgerError) {
    let million = 0...1_000_000
    let shares = [lostShare, duplicatedShare, delayedShare, reorderedShare]
    let rules: [(Bool, String)] = [
      (
        shares.allSatisfy(million.contains) && shares.reduce(0, +) <= 1_000_000,
        "the shares of lost, duplicated, delayed and reordered events are negative or exceed a "
          + "million together"
      ),
      (
        ([sandboxShare, envelopedShare] + faultShares.values).allSatisfy(million.contains),
        "a share is not between 0 and a million"
      ),
      (!providers.isEmpty, "no provider given"),
      (
        migration.map { $0.from != $0.to && senders.contains($0.from) && senders.contains($0.to) }
          ?? true, "a migration is from one of the providers to another"
      ),
      ((1...120).contains(months), "there are 1 to 120 months"),
      ((0...3_660).contains(staleDays), "snapshots are 0 to 3,660 days stale"),
      ((1...1_000_000_000).contains(events ?? 1), "there are 1 to 1,000,000,000 events"),
      ((1...100_000_000).contains(subscribers), "there are 1 to 100,000,000 subscribers"),
      ((1...1_000_000).contains(archives ?? 1), "there are 1 to 1,000,000 archives"),
    ]
    if let broken = rules.first(where: { !$0.0 }) {
      throw SubledgerError(
        .usage, "cannot simulate: \(broken.1)", hint: "change that option and run again")
    }
  }
}

/// Counts of a simulation's output.
public struct SimulationSummary: Sendable, Equatable {
  /// Number of people, each with at least one subscription or purchase.
  public var subscribers = 0
  /// Number of distinct events between start and end.
  public var events = 0
  /// Lines in all archives.
  public var lines = 0
  /// Number of archives.
  public var archives = 0
  /// The end, which is the as-of of the truth.
  public var asOf = Instant(seconds: 0)
}

/// The outcome of an event between provider and archive.
enum DeliveryOutcome: String, CaseIterable, Sendable {
  case delivered
  case lost
  case duplicated
  case delayed
  case reordered
}

// Times in a scenario are seconds since 1970 in UTC, the resolution of the provider's clock.

let hour: Int64 = 3_600
let day: Int64 = 86_400

func civilDay(of second: Int64) -> Day { CivilCalendar.utc.day(of: Instant(seconds: second)) }

func civilMonth(of second: Int64) -> Month { civilDay(of: second).month }

func start(of month: Month) -> Int64 { Int64(month.firstDay.number) * day }

/// The simulated time span, in seconds since 1970.
struct TimeSpan: Sendable, Equatable {
  /// Earlier events were never archived.
  var start: Int64
  /// As-of: nothing at or after it has happened.
  var end: Int64
  /// The time from which monthly subscriptions cost more.
  var priceRise: Int64
  /// The time from which one app sends sales instead of proceeds.
  var proceedSwitch: Int64

  init(_ scenario: Scenario) {
    let month = { (index: Int) in Simulation.start(of: Month(number: Int32(2025 * 12 + index))) }
    start = month(0)
    end = month(scenario.months)
    priceRise = month((scenario.months + 1) / 2)
    proceedSwitch = month(scenario.months * 2 / 3)
  }
}
