import Reports
import Domain

/// Results of a drill by expected code.
struct DrillScore {
  private(set) var rows: [String: DrillRow] = [:]

  /// Counts a damage under what must show it.
  mutating func add(_ code: String, _ change: (inout DrillRow) -> Void) {
    change(&rows[code, default: DrillRow(code: code)])
  }

  /// Scores a code that is only counted, by the number of arrivals that it must have added.
  mutating func settle(_ code: BreakCode, expected: Int64, counted: Int64) {
    add(code.rawValue) { row in
      row.injected += expected
      row.found += min(expected, max(0, counted))
      row.missed += max(0, expected - max(0, counted))
      row.wrong += max(0, counted - expected)
    }
  }
}
