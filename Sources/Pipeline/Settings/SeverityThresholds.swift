import Reconciliation
import Domain

/// The amounts and ages that determine a break's severity: `breaks` in the configuration.
struct SeverityThresholds: Sendable, Equatable {
  /// Amounts in US dollars, regardless of sign.
  var amounts = SeverityScale()
  /// Number of days that an event must be missing for its break to have at least the severity.
  ///
  /// Age alone makes a break critical only if configured: otherwise a first run over old archives
  /// would have too many critical breaks.
  var days: [Severity: Int] = [.medium: 8, .high: 31]

  /// Returns `found` with the severity that follows from its age at `asOf`.
  ///
  /// Only an open break with missing events of value becomes more severe with age: a difference
  /// between two reported values, or a free trial, does not get worse.
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
