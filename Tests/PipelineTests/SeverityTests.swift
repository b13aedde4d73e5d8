import Reconciliation
import Testing
import Domain

@testable import Pipeline

@Suite("Severity is the higher of those by money and by age")
struct SeverityTests {
  private let asOf = Instant(milliseconds: 1_772_323_200_000)

  private func aged(
    _ severity: Severity, days: Int64, status: BreakStatus = .open, missing: Int64 = 1,
    by thresholds: SeverityThresholds = SeverityThresholds()
  ) -> Severity {
    var found = Break(id: "a", code: .missedRenewal, provider: .qonversion)
    found.severity = severity
    found.status = status
    found.missingEvents = missing
    found.expectedAt = asOf - .days(days)
    return thresholds.aged(found, asOf: asOf).severity
  }

  @Test("A missing event is medium from 8 days and high from 31, but never critical by age")
  func defaults() {
    #expect(aged(.low, days: 7) == .low)
    #expect(aged(.low, days: 8) == .medium)
    #expect(aged(.low, days: 30) == .medium)
    #expect(aged(.low, days: 31) == .high)
    #expect(aged(.medium, days: 4000) == .high)
    #expect(aged(.high, days: 8) == .high)
    #expect(aged(.critical, days: 31) == .critical)
  }

  @Test("Breaks that are pending, worth nothing, undated or without missing events do not age")
  func exceptions() {
    #expect(aged(.low, days: 90, status: .pending) == .low)
    #expect(aged(.info, days: 90) == .info)
    #expect(aged(.low, days: 90, missing: 0) == .low)
    var free = Break(id: "a", code: .missedCancel, provider: .qonversion)
    (free.severity, free.missingEvents, free.estimatedUSD) = (.low, 1, .zero)
    free.expectedAt = asOf - .days(90)
    #expect(SeverityThresholds().aged(free, asOf: asOf).severity == .low)
    var undated = Break(id: "a", code: .missedCancel, provider: .qonversion)
    undated.missingEvents = 1
    #expect(SeverityThresholds().aged(undated, asOf: asOf).severity == .medium)
  }

  @Test("A configured age can make a break critical")
  func configured() {
    var thresholds = SeverityThresholds()
    thresholds.days = [.high: 2, .critical: 3]
    #expect(aged(.low, days: 1, by: thresholds) == .low)
    #expect(aged(.low, days: 2, by: thresholds) == .high)
    #expect(aged(.low, days: 3, by: thresholds) == .critical)
  }
}
