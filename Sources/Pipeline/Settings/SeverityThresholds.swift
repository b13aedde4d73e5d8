import Reconciliation
import Domain

/// From which amount or age on a break matters how much: the configuration's `breaks`.
struct SeverityThresholds: Sendable, Equatable {
  /// In US dollars, whatever the sign.
  var amounts = SeverityScale()
  /// From how many days on that an event is missing its break matters at least so much.
  ///
  /// Age alone makes nothing critical unless it is configured: a first run over old archives would
  /// have too many critical breaks.
  var days: [Severity: Int] = [.medium: 8, .high: 31]

  /// `found` with the severity that its age at `asOf` gives it.
  ///
  /// Only an open break with missing events of value grows with age: a difference between two
  /// reported values, or a free trial, does not get worse.
  func aged(_ found: Break, asOf: Instant) -> Break {
    guard found.status == .open, found.missingEvents > 0, found.severity != .info,
      found.estimatedUSD != .zero,
      let expectedAt = found.expectedAt
    else { return found }
    let age = asOf.since(expectedAt).milliseconds / Interval.day.milliseconds
    let byAge = Severity.allCases.last { severity in days[severity].map { age >= $0 } ?? false }
    guard let byAge, byAge > found.severity else { return found }
    var aged = found
    aged.severity = byAge
    return aged
  }
}
