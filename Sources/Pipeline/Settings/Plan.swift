public import Domain

import Formats
import Foundation
import Providers

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
  /// Threads that read archives, fold and write reports.
  public var jobs: Int
  /// What makes the exit code 1.
  public var failOn: FailOn
  /// Seconds to wait for the lock.
  public var lockWait: Int
  /// Archives changed after this are left alone, for somebody may still write them; nil takes all.
  public var modifiedUntil: Instant?
  /// Moment of snapshots that name none.
  public var capturedAt: Instant?
  /// Do everything except writing.
  public var isDryRun: Bool
  /// How CSV files are written.
  public var csvDialect: CSVDialect
  /// Decimals of printed amounts; nil prints them exactly.
  public var amountDecimals: Int?
  /// Whether somebody said the as-of, rather than the clock.
  var saysAsOf: Bool
  /// As-of, time zone and the settings that events are read with; periods are added per ledger.
  public var rules: FoldSettings
  /// How to talk meanwhile.
  public let talk: LogOptions
  var configuration: Configuration
  /// The environment variables that the configuration names, as secrets.
  let secretVariables: [String: Secret]
  /// For charges whose provider sends no money; nil when none is given, or it was not read.
  var prices: PriceBookFile?
  /// What people decided about breaks.
  var decisions = DecisionsFile()
  let pricesFile: SaidPath?
  let decisionsFile: SaidPath?

  /// Checks `flags` and fills the rest from `environment`, the configuration file and defaults.
  ///
  /// - Parameters:
  ///   - flags: what the command line says.
  ///   - environment: the process's variables.
  ///   - now: the clock, read once by the command; the default of as-of.
  /// - Throws: `SubledgerError` of kind `usage` or `configuration`.
  public init(
    flags: Options, environment: [String: String], now: Instant
  ) throws(SubledgerError) {
    var said = try SaidOptions(flags: flags, environment: environment)
    var configuration = Configuration()
    let file = said.path(.config)
    let path = file?.path ?? "subledger.yaml"
    if file != nil || mayExist(path) {
      configuration = try Configuration.read(path, givenWith: file?.place)
      try said.add(configuration.options, from: .file(path))
    }
    self.configuration = configuration
    secretVariables = Self.secretVariables(configuration, environment)
    talk = LogOptions(said)
    archives = said[\.archives] ?? []
    snapshots = said[\.snapshots] ?? []
    ledger = linksFollowed(said[\.ledger] ?? "subledger.sqlite")
    out = said[\.out] ?? "reports"
    jobs = said[\.jobs] ?? ProcessInfo.processInfo.activeProcessorCount
    lockWait = said[\.lockWait] ?? 0
    let minAge = said[\.minAge] ?? 0
    modifiedUntil = minAge == 0 ? nil : now - .seconds(Int64(minAge))
    isDryRun = said[\.dryRun] ?? false
    failOn = said[\.failOn].flatMap(FailOn.init) ?? .none
    csvDialect = said[\.csvDialect].flatMap(CSVDialect.init) ?? .rfc4180
    amountDecimals = said[\.amountDecimals]
    saysAsOf = said[\.asOf] != nil
    rules = try Self.rules(said, configuration, now: now)
    capturedAt = try Self.instant(.capturedAt, said, in: rules.calendar)
    pricesFile = said.path(.prices)
    decisionsFile = said.path(.decisions)
  }

  /// This plan with the price book and the decisions that it names.
  ///
  /// Read only for what follows them: a list that is gone holds up nothing else.
  ///
  /// - Throws: `SubledgerError` when one cannot be read, or says what makes no sense.
  func withLists() throws(SubledgerError) -> Plan {
    var plan = self
    if let file = pricesFile {
      plan.prices = try PriceBookFile.read(
        file.path, givenWith: file.place, calendar: rules.calendar)
    }
    if let file = decisionsFile {
      plan.decisions = try DecisionsFile(path: file.path, givenWith: file.place)
    }
    return plan
  }

  private static func rules(
    _ said: SaidOptions, _ configuration: Configuration, now: Instant
  ) throws(SubledgerError) -> FoldSettings {
    let calendar = try said.value(
      .timezone, "is no time zone of this system",
      hint: "use an IANA name such as UTC or Europe/Berlin", read: CivilCalendar.init(named:))
    let asOf = try instant(.asOf, said, in: calendar ?? .utc)
    var rules = FoldSettings(asOf: asOf ?? now, calendar: calendar ?? .utc)
    rules.take(configuration)
    return rules
  }

  /// RFC 3339, or a date, which is the start of that day in `calendar`.
  private static func instant(
    _ name: OptionName, _ said: SaidOptions, in calendar: CivilCalendar
  ) throws(SubledgerError) -> Instant? {
    try said.value(
      name, "is no instant",
      hint: "write a date such as 2026-11-20, or a time with its offset: 2026-11-20T06:00:00Z",
      read: calendar.instant)
  }
}

extension FoldSettings {
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
  ///
  /// A time must say its offset: without one, its writer and this calendar could mean two moments.
  public func instant(_ text: String) -> Instant? {
    let parts = text.split(separator: "-").compactMap { Int($0) }
    if text.count == 10, parts.count == 3 {
      let day = Day(year: parts[0], month: parts[1], day: parts[2])
      return day.text == text ? start(of: day) : nil
    }
    var text = text
    return text.withUTF8 { bytes in
      InstantText.rfc3339(UnsafeRawBufferPointer(bytes), needsOffset: true)
    }
  }
}

extension Plan {
  /// How bodies are read, with the secrets that they are compared with.
  func normaliseRules() throws(SubledgerError) -> NormaliserSettings {
    var rules = NormaliserSettings()
    rules.eventNames = configuration.eventNames
    rules.secrets = try secrets()
    return rules
  }

  /// The longest JSON value that is read, in bytes.
  var valueBytesMax: Int { configuration.valueBytesMax ?? defaultValueBytesMax }
}
