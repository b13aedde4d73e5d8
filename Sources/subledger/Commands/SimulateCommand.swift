public import ArgumentParser
import Foundation
import Pipeline
public import Simulation
import Domain

struct SimulateCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "simulate",
    abstract: "Write a synthetic, seeded world: archives, snapshots, and the truth about both.",
    discussion: """
      Equal options give equal bytes. The folder gets archives/, snapshots/ (a folder for each \
      shape), truth/ (every event with its outcome, and the reports as they would be with nothing \
      lost) and a subledger.yaml with the product map.

        subledger simulate --out world --subscribers 500 --months 12
        subledger run --archives world/archives --snapshots world/snapshots/sdk \\
          --config world/subledger.yaml --as-of $(cat world/truth/as_of.txt) \\
          --ledger world/subledger.sqlite --out world/reports

      With other --providers than qonversion the folder gets a prices.csv, too, and \
      truth/coverage.csv lists which reports their data allows.

      Shares are in events per million.
      """)

  private static let standard = Scenario(seed: 1, subscribers: 1, months: 1)

  @Option(help: "Folder of the world; must hold neither one nor its subledger.yaml or prices.csv.")
  var out: String

  @Option(help: "Equal seeds give equal worlds.")
  var seed: UInt64 = 1

  @Option(help: "Number of subscribers.")
  var subscribers = 1_000

  @Option(help: "Calendar months from the start to the end of the world, 1 to 120.")
  var months = 24

  @Option(help: "About how many events there should be, up to 10⁹; overrides --subscribers.")
  var events: Int?

  @Option(
    help: "Providers that send events: qonversion, flobuk, iaptic, purple; separated by commas.",
    transform: SimulateCommand.providers)
  var providers: [Provider] = [.qonversion]

  @Option(
    help: ArgumentHelp(
      "Users of an app go to another provider, FROM/TO/START/END: both report until the end.",
      discussion: "truth/ counts them once, in rows of FROM, also after the end."),
    transform: SimulateCommand.migration)
  var migrate: Migration?

  @Option(help: "Cut the deliveries into so many archives, up to 10⁶. (default: one per day)")
  var archives: Int?

  @Option(help: "Events that are never delivered, per million.")
  var lost = standard.lostShare

  @Option(help: "Events delivered more than once, per million.")
  var duplicated = standard.duplicatedShare

  @Option(help: "Events whose first attempts fail, per million.")
  var delayed = standard.delayedShare

  @Option(help: "Events that overtake another, per million.")
  var reordered = standard.reorderedShare

  @Option(
    help: "The endpoint accepts nothing from one instant to another, FROM/TO; may be given often.",
    transform: SimulateCommand.outage)
  var outage: [ClosedRange<Instant>] = []

  @Option(
    help: "A UTC day whose deliveries no archive holds; may be given often.",
    transform: SimulateCommand.day)
  var absentDay: [Day] = []

  @Option(
    help: ArgumentHelp(
      "A fault of a feed, NAME=SHARE in events per million; may be given often.",
      discussion: FeedFault.allCases.map(\.rawValue).joined(separator: ", ")),
    transform: SimulateCommand.fault)
  var fault: [(FeedFault, Int)] = []

  @Option(help: "The state in the entitlements of webhooks.")
  var entitlements = WebhookEntitlements.ofEvent

  @Option(help: "Days by which what the SDK's snapshots show is older than their capture.")
  var staleDays: Int?

  @Option(help: "Subscribers whose whole history is sandbox traffic, per million.")
  var sandbox = standard.sandboxShare

  @Option(help: "Deliveries archived inside an envelope, per million.")
  var enveloped = standard.envelopedShare

  func run() throws {
    let options = try LedgerOptions.parse([])
    try Session(options).run { session in
      let summary = try simulate(scenario, into: out, stop: session.stop.read)
      try StandardStreams.print(
        "\(summary.subscribers) subscribers, \(summary.events) events, \(summary.lines) lines in "
          + "\(summary.archives) archives; as of \(summary.asOf.text)")
      return .done
    }
  }

  private static func providers(_ text: String) throws -> [Provider] {
    try text.split(separator: ",").map { word in
      guard let provider = Provider(name: word.trimmingCharacters(in: .whitespaces)) else {
        throw ValidationError(
          "Unknown provider \"\(word)\". Use qonversion, flobuk, iaptic or purple.")
      }
      return provider
    }
  }

  private static func outage(_ text: String) throws -> ClosedRange<Instant> {
    let instants = text.split(separator: "/").compactMap { CivilCalendar.utc.instant(String($0)) }
    guard instants.count == 2, instants[0] <= instants[1] else {
      throw ValidationError(
        "\"\(text)\" is not a pair of instants. Use 2025-03-10T02:00:00Z/2025-03-10T09:00:00Z.")
    }
    return instants[0]...instants[1]
  }

  private static func migration(_ text: String) throws -> Migration {
    let parts = text.split(separator: "/").map(String.init)
    guard parts.count == 4 else {
      throw ValidationError(
        "\"\(text)\" is not a migration. Use qonversion/iaptic/2025-08-01/2025-09-01.")
    }
    let providers = try providers(parts[0] + "," + parts[1])
    return Migration(
      from: providers[0], to: providers[1], both: try outage(parts[2] + "/" + parts[3]))
  }

  private static func day(_ text: String) throws -> Day {
    guard let instant = CivilCalendar.utc.instant(text), text.count == 10 else {
      throw ValidationError("\"\(text)\" is not a day. Use 2025-03-10.")
    }
    return CivilCalendar.utc.day(of: instant)
  }

  private static func fault(_ text: String) throws -> (FeedFault, Int) {
    let parts = text.split(separator: "=").map(String.init)
    guard parts.count == 2, let fault = FeedFault(rawValue: parts[0]), let share = Int(parts[1])
    else {
      throw ValidationError("\"\(text)\" is not a fault. Use double_charge=20000.")
    }
    return (fault, share)
  }

  private var scenario: Scenario {
    var scenario = Scenario(seed: seed, subscribers: subscribers, months: months)
    scenario.events = events
    scenario.providers = providers
    scenario.migration = migrate
    scenario.archives = archives
    scenario.lostShare = lost
    scenario.duplicatedShare = duplicated
    scenario.delayedShare = delayed
    scenario.reorderedShare = reordered
    scenario.outages = outage
    scenario.absentDays = absentDay
    scenario.faultShares = Dictionary(fault) { _, last in last }
    scenario.entitlements = entitlements
    scenario.staleDays = staleDays ?? scenario.staleDays
    scenario.sandboxShare = sandbox
    scenario.envelopedShare = enveloped
    return scenario
  }
}

extension WebhookEntitlements: ExpressibleByArgument {}
