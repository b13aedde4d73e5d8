import Domain
import Providers
import Reconciliation

/// A setting: its name in the configuration file, and how its value is read.
///
/// To add one, add a property to `Configuration` and a row here; an option of the command line is a
/// property of the same name in the command's options besides.
struct Setting: Sendable {
  /// The name, such as `limits.rejected_share`.
  let name: String
  /// Whether it has an effect on the numbers: a run keeps it in the ledger.
  let isKept: Bool
  let read: @Sendable (inout Configuration, SettingValue) throws -> Void

  private init(
    _ name: String, isKept: Bool = false,
    _ read: @escaping @Sendable (inout Configuration, SettingValue) throws -> Void
  ) {
    self.name = name
    self.isKept = isKept
    self.read = read
  }

  /// Every setting, in the order in which the values of one source are read.
  static let all = options + fileSettings

  /// Settings that flags and variables give, too.
  static let options = [
    Setting("archives") { $0.job.archives = try $1.list() },
    Setting("snapshots") { $0.job.snapshots = try $1.list() },
    Setting("ledger") { $0.job.ledger = try $1.text() },
    Setting("out") { $0.job.out = try $1.text() },
    Setting("prices") { $0.job.prices = try $1.path() },
    Setting("decisions") { $0.job.decisions = try $1.path() },
    Setting("reports_dir") { $0.job.reportsDir = try $1.path() },
    Setting("as_of", isKept: true) { $0.asOf = try $1.time() },
    Setting("captured_at", isKept: true) { $0.capturedAt = try $1.time() },
    Setting("timezone", isKept: true) { $0.timezone = try $1.timeZone() },
    Setting("csv_dialect", isKept: true) { $0.csvDialect = try $1.choice() },
    Setting("amount_decimals", isKept: true) { $0.amountDecimals = try $1.number(in: 0...6) },
    Setting("summary") { $0.job.summary = try $1.path() },
    Setting("metrics") { $0.job.metrics = try $1.path() },
    Setting("locale", isKept: true) { $0.locale = try $1.choice() },
    Setting("xlsx", isKept: true) { $0.hasWorkbook = try $1.flag() },
    Setting("jobs") { $0.job.jobs = try $1.number(in: 1...1_000_000) },
    Setting("fail_on") { $0.job.failOn = try $1.choice() },
    Setting("lock_wait") { $0.job.lockWait = try $1.number(in: 0...1_000_000) },
    Setting("min_age") { $0.job.minAge = try $1.number(in: 0...1_000_000) },
    Setting("adopt") { $0.job.adopts = try $1.flag() },
    Setting("dry_run") { $0.job.isDryRun = try $1.flag() },
    Setting("log_format") { $0.job.log.format = try $1.choice() },
    Setting("progress") { $0.job.log.progress = try $1.choice() },
    // A flag overrides `quiet` of a variable or the file; of both in one place, quiet holds.
    Setting("verbose") {
      $0.job.log.isVerbose = try $1.flag()
      if $0.job.log.isVerbose { $0.job.log.isQuiet = false }
    },
    Setting("quiet") {
      $0.job.log.isQuiet = try $1.flag()
      if $0.job.log.isQuiet { $0.job.log.isVerbose = false }
    },
  ]

  private static let fileSettings = [
    Setting("snapshots.paths") { $0.job.snapshots = try $1.list() },
    Setting("snapshots.complete", isKept: true) { $0.snapshotsAreComplete = try $1.flag() },
    Setting("snapshots.from_webhooks", isKept: true) { $0.snapshotsFromWebhooks = try $1.flag() },
    Setting("products", isKept: true) { try $0.add(products: $1) },
    Setting("periods", isKept: true) { configuration, value in
      for entry in try value.entries() { try configuration.add(entry.period(), of: entry) }
    },
    Setting("event_names", isKept: true) { $0.eventNames = try $1.eventNames() },
    Setting("envelope.body", isKept: true) { $0.envelope.body = try $1.list() },
    Setting("envelope.received", isKept: true) { $0.envelope.received = try $1.list() },
    Setting("envelope.headers", isKept: true) { $0.envelope.headers = try $1.list() },
    Setting("customer_id", isKept: true) { $0.customerID = try $1.choice() },
    Setting("renewal_gap", isKept: true) { $0.renewalGap = try $1.duration() },
    Setting("retry_horizon", isKept: true) { $0.retryHorizon = try $1.duration() },
    Setting("freshness_max", isKept: true) {
      $0.freshnessMax = try $1.ofFeeds { try $0.duration() }
    },
    Setting("history_begins", isKept: true) { $0.historyBegins = try $1.ofFeeds { try $0.time() } },
    Setting("feed_gap_odds", isKept: true) {
      $0.feedGapOdds = try $1.number(in: 1_000...1_000_000_000)
    },
    Setting("double_charges", isKept: true) { $0.doubleCharges = try $1.choice() },
    Setting("authority", isKept: true) { $0.authority = try $1.authority() },
    Setting("delivery_window", isKept: true) { configuration, value in
      for entry in try value.entries() {
        configuration.deliveryWindows[try entry.provider()] = try entry.duration()
      }
    },
    Setting("delivery_retries", isKept: true) { configuration, value in
      for entry in try value.entries() {
        configuration.retrySchedules[try entry.provider()] = try entry.schedule()
      }
    },
    Setting("reports", isKept: true) {
      for entry in try $1.entries() { $0.reports[entry.key] = try entry.text() }
    },
    Setting("secrets") { $0.secrets = try $1.secrets() },
    Setting("unreadable_files") { $0.unreadableFiles = try $1.choice() },
    Setting("limits.value_bytes", isKept: true) {
      // Offsets inside a value have four bytes.
      $0.valueBytesMax = try $1.number(in: 1...1 << 30)
    },
    Setting("limits.rejected_share", isKept: true) { $0.rejectedShare = try $1.share() },
    Setting("materiality", isKept: true) { $0.materialityShare = try $1.share() },
    Setting("breaks.severity_usd", isKept: true) { try $0.severity.read(amounts: $1) },
    Setting("breaks.severity_days", isKept: true) { try $0.severity.read(days: $1) },
  ]
}

extension SeverityThresholds {
  mutating func read(amounts value: SettingValue) throws(SubledgerError) {
    for entry in try value.entries() {
      switch entry.key {
      case "medium": amounts.medium = try entry.amount()
      case "high": amounts.high = try entry.amount()
      case "critical": amounts.critical = try entry.amount()
      default: throw entry.unknown(among: ["medium", "high", "critical"])
      }
    }
    guard amounts.medium <= amounts.high, amounts.high <= amounts.critical else {
      throw value.refused("the amounts must rise from medium to high to critical")
    }
  }

  mutating func read(days value: SettingValue) throws(SubledgerError) {
    for entry in try value.entries() {
      guard let severity = Severity(rawValue: entry.key), severity >= .medium else {
        throw entry.unknown(among: ["medium", "high", "critical"])
      }
      days[severity] = Int64(try entry.number(in: 0...1_000_000))
    }
    let limits = Severity.allCases.compactMap { days[$0] }
    guard limits == limits.sorted() else {
      throw value.refused("the days must rise from medium to high to critical")
    }
  }
}
