/// What was asked for, exactly as typed: nil means not said.
///
/// A flag beats the environment, which beats the configuration file, which beats the default:
/// `SaidOptions` lays three values of this type over each other.
public struct Options: Sendable, Equatable {
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
  /// Threads that read archives, fold and write reports.
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
  /// `text` or `json`.
  public var logFormat: String?
  /// Say more on standard error.
  public var verbose: Bool?
  /// Say nothing but errors on standard error.
  public var quiet: Bool?
  /// When a progress bar is drawn: `auto`, `always` or `never`.
  public var progress: String?

  /// Nothing said yet.
  public init() {}

  /// The options that `SUBLEDGER_*` variables name; lists are separated by colons, and an empty
  /// variable says nothing.
  ///
  /// `SUBLEDGER_SECRET_*` are none of them: the configuration may name such as secrets.
  ///
  /// - Throws: `SubledgerError` of kind `usage` for a number that is none or a name that is
  ///   unknown.
  init(environment: [String: String]) throws(SubledgerError) {
    let values = environment.filter {
      $0.key.hasPrefix("SUBLEDGER_") && !$0.key.hasPrefix("SUBLEDGER_SECRET_")
    }
    for (name, value) in values.sorted(by: { $0.key < $1.key }) {
      let key = name.dropFirst("SUBLEDGER_".count).lowercased()
      guard let option = OptionName(rawValue: key), option.variable == name else {
        throw SubledgerError(
          .usage, "the environment variable \(name) names no option",
          hint: "known are \(OptionName.allCases.map(\.variable).joined(separator: ", "))")
      }
      if !value.isEmpty { try set(option, to: value) }
    }
  }

  private mutating func set(_ option: OptionName, to value: String) throws(SubledgerError) {
    func wrong(_ rule: String, hint: String) -> SubledgerError {
      OptionSource.environment.wrong(option, value, rule, hint: hint)
    }
    switch option.slot {
    case .text(let path), .word(let path, _): self[keyPath: path] = value
    case .list(let path):
      let items = value.split(separator: ":").map(String.init)
      if !items.isEmpty { self[keyPath: path] = items }
    case .number(let path, let range):
      guard let number = Int(value) else {
        throw wrong("is no whole number", hint: range.hint)
      }
      self[keyPath: path] = number
    case .flag(let path):
      guard let flag = Self.flags[value.lowercased()] else {
        throw wrong("is neither true nor false", hint: "write 1, true or yes, or 0, false or no")
      }
      self[keyPath: path] = flag
    }
  }

  private static let flags = [
    "1": true, "true": true, "yes": true, "0": false, "false": false, "no": false,
  ]
}
