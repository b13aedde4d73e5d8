public import Domain

/// How delivered events are laid into archives.
public enum ArchiveLayout: Sendable, Equatable {
  /// One archive per UTC day of delivery.
  case perDay
  /// That many archives with equally many lines, in order of delivery.
  case count(Int)
}

/// A wire form of the provider's answer to "what does this user own".
public enum SnapshotShape: String, CaseIterable, Sendable {
  case v3
  case v4
  case purchases
  case sdk
  case sdkObject = "sdk-object"
  case canonical
}

/// What a synthetic world is made of.
///
/// Shares are in events, or subscribers, per million.
public struct WorldPlan: Sendable, Equatable {
  /// Equal plans with equal seeds give equal bytes.
  public var seed: UInt64
  /// How many people live in the world; not used when `events` is set.
  public var subscribers: Int
  /// Calendar months from `start` to the end of the world, at least 1 and at most 120.
  public var months: Int
  /// Where the archives begin; a UTC midnight.
  public var start: Instant
  /// How archives are cut.
  public var archives = ArchiveLayout.perDay
  /// Stop adding subscribers once there are about so many events; nil for `subscribers`.
  public var events: Int?
  /// Events that are never delivered.
  public var lostShare = 2_000
  /// Events that are delivered more than once.
  public var duplicatedShare = 30_000
  /// Events whose first attempts failed, so that they come by the provider's retry schedule.
  public var delayedShare = 20_000
  /// Events that overtake or are overtaken by the next one of the same subscriber.
  public var reorderedShare = 10_000
  /// Stretches in which the endpoint takes nothing.
  public var outages: [ClosedRange<Instant>] = []
  /// Subscribers whose whole life is sandbox traffic.
  public var sandboxShare = 20_000
  /// Deliveries archived inside an envelope with receive time and headers.
  public var envelopedShare = 500_000
  /// Who tells of the world; each sees the same lives in its own way.
  public var providers: [Provider] = [.qonversion]
  /// Which snapshots of Qonversion are written.
  public var snapshotShapes = SnapshotShape.allCases

  /// A world of `subscribers` over `months`, with a little of every disorder.
  public init(
    seed: UInt64, subscribers: Int = 1_000, months: Int = 24,
    start: Instant = Instant(seconds: Int64(Day(year: 2025, month: 1, day: 1).number) * 86_400)
  ) {
    self.seed = seed
    self.subscribers = subscribers
    self.months = months
    self.start = start
  }
}

/// What a simulation wrote.
public struct SimulationSummary: Sendable, Equatable {
  /// People, each with at least one subscription or purchase.
  public var subscribers = 0
  /// Distinct events that happened between the start and the end of the world.
  public var events = 0
  /// Events by what became of them.
  public var fates: [Fate: Int] = [:]
  /// Lines in all archives.
  public var lines = 0
  /// Archive files.
  public var archives = 0
  /// Users in each snapshot.
  public var snapshotUsers: [SnapshotShape: Int] = [:]
  /// The instant the truth speaks of: the end of the world.
  public var asOf = Instant(seconds: 0)

  /// Nothing written yet.
  public init() {}
}

/// What became of an event between the provider and the archive.
public enum Fate: String, CaseIterable, Sendable {
  case delivered
  case lost
  case duplicated
  case delayed
  case reordered
}

/// The world's stretch of time, in seconds since 1970.
struct Span: Sendable, Equatable {
  /// Events before this one were never archived.
  var start: Int64
  /// As-of: nothing at or after it has happened.
  var end: Int64
  /// From here on monthly subscriptions cost more.
  var priceRise: Int64
  /// From here on one app sends sales instead of proceeds.
  var proceedSwitch: Int64

  init(_ plan: WorldPlan) {
    start = plan.start.milliseconds / 1000
    end = adding(months: plan.months, to: start)
    priceRise = adding(months: (plan.months + 1) / 2, to: start)
    proceedSwitch = adding(months: plan.months * 2 / 3, to: start)
  }
}
