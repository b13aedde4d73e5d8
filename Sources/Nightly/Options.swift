/// What was asked for, exactly as typed: nil means not said.
///
/// A flag beats the environment, which beats the configuration file, which beats the default:
/// three values of this type, laid over each other.
public struct Options: Sendable, Equatable, Codable {
  /// Files or folders of delivered events.
  public var archives: [String]?
  /// Files or folders of entitlement snapshots.
  public var snapshots: [String]?
  /// The SQLite ledger.
  public var ledger: String?
  /// Where the report set is published.
  public var out: String?
  /// Business time the reports speak of: RFC 3339, or a date.
  public var asOf: String?
  /// When snapshots without a time of their own were taken.
  public var capturedAt: String?
  /// IANA name of the time zone of days and months.
  public var timezone: String?
  /// The configuration file.
  public var config: String?
  /// The price book.
  public var prices: String?
  /// What people decided about breaks.
  public var decisions: String?
  /// Archives read in parallel.
  public var jobs: Int?
  /// Rank of breaks that makes the exit code 1.
  public var failOn: String?
  /// Seconds to wait for the ledger's lock.
  public var lockWait: Int?
  /// Seconds below which an archive counts as still being written.
  public var minAge: Int?
  /// `rfc4180` or `excel`.
  public var csvDialect: String?
  /// Decimals of printed amounts; nil prints them exactly.
  public var amountDecimals: Int?
  /// Do everything except writing ledger and reports.
  public var dryRun: Bool?

  /// Nothing said yet.
  public init() {}

  enum CodingKeys: String, CodingKey, CaseIterable {
    case archives, snapshots, ledger, out
    case asOf = "as_of"
    case capturedAt = "captured_at"
    case timezone, config, prices, decisions, jobs
    case failOn = "fail_on"
    case lockWait = "lock_wait"
    case minAge = "min_age"
    case csvDialect = "csv_dialect"
    case amountDecimals = "amount_decimals"
    case dryRun = "dry_run"
  }

  /// These options, and `other`'s where these say nothing.
  public func over(_ other: Options) -> Options {
    var merged = self
    merged.archives = archives ?? other.archives
    merged.snapshots = snapshots ?? other.snapshots
    merged.ledger = ledger ?? other.ledger
    merged.out = out ?? other.out
    merged.asOf = asOf ?? other.asOf
    merged.capturedAt = capturedAt ?? other.capturedAt
    merged.timezone = timezone ?? other.timezone
    merged.config = config ?? other.config
    merged.prices = prices ?? other.prices
    merged.decisions = decisions ?? other.decisions
    merged.jobs = jobs ?? other.jobs
    merged.failOn = failOn ?? other.failOn
    merged.lockWait = lockWait ?? other.lockWait
    merged.minAge = minAge ?? other.minAge
    merged.csvDialect = csvDialect ?? other.csvDialect
    merged.amountDecimals = amountDecimals ?? other.amountDecimals
    merged.dryRun = dryRun ?? other.dryRun
    return merged
  }

  /// The options that `SUBLEDGER_*` variables name; lists are separated by colons.
  ///
  /// `SUBLEDGER_SECRET_*` are none of them: the configuration may name such as secrets.
  ///
  /// - Throws: `NightError` of kind `usage` for a number that is none or a name that is unknown.
  public init(environment: [String: String]) throws(NightError) {
    let values = environment.filter {
      $0.key.hasPrefix("SUBLEDGER_") && !$0.key.hasPrefix("SUBLEDGER_SECRET_")
    }
    for name in values.keys.sorted() {
      let key = name.dropFirst("SUBLEDGER_".count).lowercased()
      guard let value = values[name], let option = CodingKeys(rawValue: key) else {
        throw NightError(
          .usage, "the environment variable \(name) names no option",
          hint: "known are \(CodingKeys.allCases.map(\.variable).joined(separator: ", "))")
      }
      try set(option, to: value, saidBy: name)
    }
  }

  private mutating func set(
    _ option: CodingKeys, to value: String, saidBy name: String
  ) throws(NightError) {
    switch option {
    case .archives: archives = value.split(separator: ":").map(String.init)
    case .snapshots: snapshots = value.split(separator: ":").map(String.init)
    case .ledger: ledger = value
    case .out: out = value
    case .asOf: asOf = value
    case .capturedAt: capturedAt = value
    case .timezone: timezone = value
    case .config: config = value
    case .prices: prices = value
    case .decisions: decisions = value
    case .jobs: jobs = try number(value, name)
    case .failOn: failOn = value
    case .lockWait: lockWait = try number(value, name)
    case .minAge: minAge = try number(value, name)
    case .csvDialect: csvDialect = value
    case .amountDecimals: amountDecimals = try number(value, name)
    case .dryRun: dryRun = ["1", "true", "yes"].contains(value.lowercased())
    }
  }

  private func number(_ text: String, _ name: String) throws(NightError) -> Int {
    guard let number = Int(text) else {
      throw NightError(.usage, "the environment variable \(name) must be a whole number")
    }
    return number
  }
}

extension Options.CodingKeys {
  var variable: String { "SUBLEDGER_\(rawValue.uppercased())" }
}
