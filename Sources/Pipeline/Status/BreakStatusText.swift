import EventStore
import Reports
import Domain

extension RunPipeline {
  /// Unresolved breaks by status and severity, the oldest of each status, and their codes with the
  /// missing events.
  func breakLines(_ ledger: Ledger) throws -> [String] {
    let counts = try ledger.breakCounts()
    if counts.isEmpty { return ["breaks    none"] }
    let asOf = try ledger.runs(newest: 1).first?.asOf
    return ["open", "reopened", "pending", "explained", "written_off"].flatMap { status in
      let group = counts.filter { $0.status == status }
      return group.isEmpty ? [] : [summary(group, asOf)] + codes(group)
    }
  }

  private func summary(_ group: [BreakCount], _ asOf: Instant?) -> String {
    let total = group.reduce(0) { $0 + $1.count }
    let severities = Severity.allCases.reversed().compactMap { severity in
      let count = group.filter { $0.severity == severity.rawValue }.reduce(0) { $0 + $1.count }
      return count == 0 ? nil : "\(count) \(severity.rawValue)"
    }
    var line = "breaks    \(total) \(group[0].status): \(severities.joined(separator: ", "))"
    if let oldest = group.compactMap(\.oldest).min(), let asOf {
      let days = max(0, asOf.since(oldest).milliseconds) / Interval.day.milliseconds
      line += "; oldest \(days) \(days == 1 ? "day" : "days")"
    }
    return line
  }

  private func codes(_ group: [BreakCount]) -> [String] {
    Dictionary(grouping: group, by: \.code).sorted { $0.key < $1.key }.map { code, counts in
      "          \(counts.reduce(0) { $0 + $1.count }) \(code)\(worth(counts))"
    }
  }

  /// The missing events of breaks of one code, and their known worth.
  private func worth(_ counts: [BreakCount]) -> String {
    let events = counts.reduce(0) { $0 + $1.missingEvents }
    guard events > 0 else { return "" }
    let micros = counts.reduce(Int128(0)) { $0 + Int128($1.estimatedUSD.micros) }
    let unknown = counts.reduce(0) { $0 + $1.withoutEstimate }
    let known = counts.reduce(0) { $0 + $1.count } - unknown
    let usd = known > 0 ? ", \(amountText(micros)) USD" : ""
    let rest = unknown > 0 ? ", \(unknown) without estimate" : ""
    return ": \(events) \(events == 1 ? "event" : "events") missing\(usd)\(rest)"
  }
}
