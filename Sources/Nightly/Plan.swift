public import Vocabulary

import Decode
import Foundation
import Normalise

/// Everything a night does, checked and fixed before it begins.
public struct Plan: Sendable {
  /// What gates the exit code.
  public enum FailOn: String, CaseIterable, Sendable {
    /// Breaks never change the exit code.
    case none
    /// Any break, also one whose event can still come.
    case pending
    /// Breaks whose event can no longer come.
    case open
    /// Open breaks of the highest severity.
    case critical
  }

  /// Files or folders of delivered events.
  public var archives: [String]
  /// Files or folders of snapshots.
  public var snapshots: [String]
  /// The ledger's path.
  public var ledger: String
  /// The folder of the published set.
  public var out: String
  /// Archives read in parallel.
  public var jobs: Int
  /// What makes the exit code 1.
  public var failOn: FailOn
  /// Seconds to wait for the lock.
  public var lockWait: Int
  /// Archives changed less than this before now are left alone; with the clock they are held to.
  public var archivesBefore: Instant?
  /// Moment of snapshots that name none.
  public var capturedAt: Instant?
  /// Do everything except writing.
  public var isDryRun: Bool
  /// `excel` writes a BOM and CRLF.
  public var isExcelDialect: Bool
  /// Decimals of printed amounts; nil prints them exactly.
  public var amountDecimals: Int?
  /// Whether somebody said the as-of, rather than the clock.
  var saysAsOf: Bool
  /// As-of, time zone and the settings that events are read with; periods are added per ledger.
  public var rules: Rules
  var configuration: Configuration
  /// The environment variables that the configuration names, as secrets.
  let secretVariables: [String: Secret]
  /// For charges whose provider sends no money; nil when none is given.
  var prices: PriceList?
  /// What people decided about breaks.
  var decisions = DecisionsFile()

  /// Checks `flags` and fills the rest from `environment`, the configuration file and defaults.
  ///
  /// - Parameters:
  ///   - flags: what the command line says.
  ///   - environment: the process's variables.
  ///   - now: the clock, read once by the command; the default of as-of.
  /// - Throws: `NightError` of kind `usage` or `configuration`.
  public init(
    flags: Options, environment: [String: String], now: Instant
  ) throws(NightError) {
    var options = flags.over(try Options(environment: environment))
    var configuration = Configuration()
    let path = options.config ?? "subledger.yaml"
    if options.config != nil || mayExist(path) {
      configuration = try Configuration.read(path)
      options = options.over(configuration.options)
    }
    self.configuration = configuration
    secretVariables = Self.secretVariables(configuration, environment)
    archives = options.archives ?? []
    snapshots = options.snapshots ?? []
    ledger = options.ledger ?? "subledger.sqlite"
    out = options.out ?? "reports"
    jobs = try Self.count(options.jobs ?? ProcessInfo.processInfo.activeProcessorCount, 1, "jobs")
    lockWait = try Self.count(options.lockWait ?? 0, 0, "lock-wait")
    let minAge = try Self.count(options.minAge ?? 0, 0, "min-age")
    archivesBefore = minAge == 0 ? nil : now - .seconds(Int64(minAge))
    isDryRun = options.dryRun ?? false
    failOn = try Self.choice(options.failOn, "fail-on", default: .none)
    isExcelDialect = try Self.isExcel(options.csvDialect)
    amountDecimals = options.amountDecimals
    if let decimals = amountDecimals, !(0...6).contains(decimals) {
      throw NightError(.usage, "--amount-decimals must be 0 to 6, not \(decimals)")
    }
    saysAsOf = options.asOf != nil
    rules = try Self.rules(options, configuration, now: now)
    capturedAt = try options.capturedAt.map { text throws(NightError) in
      try Self.instant(text, "captured-at", in: .utc)
    }
    if let path = options.prices {
      prices = try PriceList.read(path, calendar: rules.calendar)
    }
    if let path = options.decisions { decisions = try DecisionsFile(path: path) }
  }

  private static func rules(
    _ options: Options, _ configuration: Configuration, now: Instant
  ) throws(NightError) -> Rules {
    let name = options.timezone ?? "UTC"
    guard let calendar = CivilCalendar(named: name) else {
      throw NightError(
        .usage, "--timezone \(name) is no time zone of this system",
        hint: "use an IANA name such as UTC or Europe/Berlin")
    }
    let asOf = try options.asOf.map { text throws(NightError) in
      try instant(text, "as-of", in: calendar)
    }
    var rules = Rules(asOf: asOf ?? now, calendar: calendar)
    rules.take(configuration)
    return rules
  }

  /// RFC 3339, or a date, which is the start of that day in the reports' time zone.
  private static func instant(
    _ text: String, _ option: String, in calendar: CivilCalendar
  ) throws(NightError) -> Instant {
    if let instant = calendar.instant(text) { return instant }
    throw NightError(
      .usage, "--\(option) \(text) is no instant",
      hint: "write 2026-11-20 or 2026-11-20T06:00:00Z")
  }

  private static func choice<Choice: RawRepresentable & CaseIterable>(
    _ text: String?, _ option: String, default standard: Choice
  ) throws(NightError) -> Choice where Choice.RawValue == String {
    guard let text else { return standard }
    guard let choice = Choice(rawValue: text) else {
      let known = Choice.allCases.map(\.rawValue).joined(separator: ", ")
      throw NightError(.usage, "--\(option) \(text) is unknown", hint: "choose one of \(known)")
    }
    return choice
  }

  private static func isExcel(_ dialect: String?) throws(NightError) -> Bool {
    switch dialect ?? "rfc4180" {
    case "rfc4180": return false
    case "excel": return true
    default:
      throw NightError(.usage, "--csv-dialect is unknown", hint: "choose rfc4180 or excel")
    }
  }

  private static func count(
    _ value: Int, _ least: Int, _ option: String
  ) throws(NightError) -> Int {
    guard value >= least, value <= 1_000_000 else {
      throw NightError(.usage, "--\(option) must be at least \(least), not \(value)")
    }
    return value
  }
}

extension Rules {
  /// Takes over what a configuration says otherwise than the defaults.
  mutating func take(_ configuration: Configuration) {
    renewalGap = configuration.renewalGap ?? renewalGap
    retryHorizon = configuration.retryHorizon ?? retryHorizon
    freshnessMax = configuration.freshnessMax ?? freshnessMax
    deliveryWindows = configuration.deliveryWindows
  }
}

extension CivilCalendar {
  /// The instant that RFC 3339 text, or a date, stands for; a date is the start of that day.
  public func instant(_ text: String) -> Instant? {
    let parts = text.split(separator: "-").compactMap { Int($0) }
    if text.count == 10, parts.count == 3 {
      let day = Day(year: parts[0], month: parts[1], day: parts[2])
      return day.text == text ? start(of: day) : nil
    }
    var text = text
    return text.withUTF8 { InstantText.rfc3339(UnsafeRawBufferPointer($0)) }
  }
}

extension Plan {
  /// How bodies are read, with the secrets that they are compared with.
  func normaliseRules() throws(NightError) -> NormaliseRules {
    var rules = NormaliseRules()
    rules.eventNames = configuration.eventNames
    rules.secrets = try secrets()
    return rules
  }

  /// The longest JSON value that is read, in bytes.
  var valueBytesMax: Int { configuration.valueBytesMax ?? 16 << 20 }
}
