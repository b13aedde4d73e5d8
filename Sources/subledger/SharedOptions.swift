import ArgumentParser
import Pipeline

/// Where the ledger is and how to talk.
struct LedgerOptions: ParsableArguments {
  @Option(help: "The SQLite ledger; made when missing. (default: subledger.sqlite)")
  var ledger: String?

  @Option(help: "Configuration file; unknown keys are an error. (default: subledger.yaml)")
  var config: String?

  @Option(
    parsing: .unconditional,
    help: "Seconds to wait when another run holds the ledger. (default: 0)")
  var lockWait: Int?

  @Option(help: "How log lines on standard error look: text or json. (default: text)")
  var logFormat: String?

  @Flag(help: "Say more on standard error.")
  var verbose = false

  @Flag(help: "Say nothing but errors on standard error.")
  var quiet = false

  /// What these flags say.
  var flags: Options {
    var options = Options()
    options.ledger = ledger
    options.config = config
    options.lockWait = lockWait
    options.logFormat = logFormat
    if verbose { options.verbose = true }
    if quiet { options.quiet = true }
    return options
  }
}

/// What a night tells of itself.
struct TimingOptions: ParsableArguments {
  @Flag(help: "Say on standard error where the processor time went.")
  var timings = false
}

/// What to read.
struct InputOptions: ParsableArguments {
  @Option(
    parsing: .upToNextOption,
    help: "Files or folders of delivered events, gzip or plain JSONL; folders are walked.")
  var archives: [String] = []

  @Option(
    parsing: .upToNextOption, help: "Files or folders of entitlement snapshots, a user a line.")
  var snapshots: [String] = []

  @Option(help: "When snapshots without a time of their own were taken.")
  var capturedAt: String?

  @Option(
    parsing: .unconditional,
    help: "Threads that read, fold and write reports. (default: the number of cores)")
  var jobs: Int?

  @Option(
    parsing: .unconditional,
    help: "Leave archives younger than this many seconds alone. (default: 0)")
  var minAge: Int?

  @Option(help: "Progress bar on standard error: auto, always or never. (default: auto)")
  var progress: String?

  @Flag(help: "Do everything except writing ledger and reports; say what would change.")
  var dryRun = false

  func fill(_ options: inout Options) {
    if !archives.isEmpty { options.archives = archives }
    if !snapshots.isEmpty { options.snapshots = snapshots }
    options.capturedAt = capturedAt
    options.jobs = jobs
    options.minAge = minAge
    options.progress = progress
    if dryRun { options.dryRun = true }
  }
}

/// What to publish.
struct OutputOptions: ParsableArguments {
  @Option(help: "Folder of the published report set. (default: reports)")
  var out: String?

  @Option(help: "Business time of the reports: RFC 3339, or a date. (default: now)")
  var asOf: String?

  @Option(help: "IANA time zone of days and months. (default: UTC)")
  var timezone: String?

  @Option(help: "Price book (CSV) for charges whose provider sends no money. (default: none)")
  var prices: String?

  @Option(help: "What people decided about breaks, a YAML list. (default: none)")
  var decisions: String?

  @Option(help: "Exit 1 when such breaks are published: none, pending, open or critical.")
  var failOn: String?

  @Option(help: "rfc4180, or excel with BOM and CRLF.")
  var csvDialect: String?

  @Option(
    parsing: .unconditional,
    help: "Round printed amounts to this many decimals, 0 to 6. (default: exact)")
  var amountDecimals: Int?

  func fill(_ options: inout Options) {
    options.out = out
    options.asOf = asOf
    options.timezone = timezone
    options.prices = prices
    options.decisions = decisions
    options.failOn = failOn
    options.csvDialect = csvDialect
    options.amountDecimals = amountDecimals
  }
}
