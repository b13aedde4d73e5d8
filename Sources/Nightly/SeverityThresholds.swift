import Reconcile
import Vocabulary

/// From which amount or age on a break matters how much: the configuration's `breaks`.
struct SeverityThresholds: Sendable, Equatable {
  /// In US dollars, whatever the sign.
  var amounts = SeverityScale()
  /// From how many days on that an event is missing its break matters at least so much.
  ///
  /// Age alone makes nothing critical unless it is configured: a first run over old archives would
  /// bury what is.
  var days: [Severity: Int64] = [.medium: 8, .high: 31]

  /// `found` with the severity that its age at `asOf` gives it.
  ///
  /// Only what is open and misses events of worth grows with age: a difference between two things
  /// that were told, or a free trial, does not get worse.
  func aged(_ found: Break, asOf: Instant) -> Break {
    guard found.status == .open, found.missingEvents > 0, found.severity != .info,
      let expectedAt = found.expectedAt
    else { return found }
    let age = asOf.since(expectedAt).milliseconds / Interval.days(1).milliseconds
    let byAge = Severity.allCases.last { severity in days[severity].map { age >= $0 } ?? false }
    guard let byAge, byAge > found.severity else { return found }
    var aged = found
    aged.severity = byAge
    return aged
  }
}

extension ConfigurationReader {
  /// `{severity_usd: {medium: 1, …}, severity_days: {medium: 8, …}}`; each step at least the one
  /// before it.
  func readBreaks(
    _ value: Any, into configuration: inout Configuration
  ) throws(NightError) {
    for (name, steps) in try mapping(value, "breaks") {
      switch name {
      case "severity_usd": try readAmounts(steps, into: &configuration.severity.amounts)
      case "severity_days": try readDays(steps, into: &configuration.severity.days)
      default: throw unknown("breaks.\(name)")
      }
    }
  }

  private func readAmounts(
    _ value: Any, into scale: inout SeverityScale
  ) throws(NightError) {
    for (step, limit) in try mapping(value, "breaks.severity_usd") {
      let key = "breaks.severity_usd.\(step)"
      switch step {
      case "medium": scale.medium = try amount(limit, key)
      case "high": scale.high = try amount(limit, key)
      case "critical": scale.critical = try amount(limit, key)
      default: throw unknown(key)
      }
    }
    guard scale.medium <= scale.high, scale.high <= scale.critical else {
      throw wrong("breaks.severity_usd", "must rise from medium over high to critical")
    }
  }

  private func readDays(
    _ value: Any, into days: inout [Severity: Int64]
  ) throws(NightError) {
    for (step, limit) in try mapping(value, "breaks.severity_days") {
      let key = "breaks.severity_days.\(step)"
      switch Severity(rawValue: step) {
      case .some(let severity) where severity >= .medium:
        days[severity] = Int64(try number(limit, key))
      default: throw unknown(key)
      }
    }
    let limits = Severity.allCases.compactMap { days[$0] }
    guard limits == limits.sorted() else {
      throw wrong("breaks.severity_days", "must rise from medium over high to critical")
    }
  }
}
