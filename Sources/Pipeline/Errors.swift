public import Domain
import EventStore
import Foundation

extension SubledgerError {
  /// Wraps any error, with the kind that determines the exit code.
  public init(_ error: any Error) {
    switch error {
    case let error as SubledgerError: self = error
    case let error as AmountOverflow:
      self.init(
        .overflow, "cannot fold the events: \(error)",
        hint: "look in the archives for amounts that cannot be true")
    case let error as CocoaError:
      let path = (error.filePath ?? error.url?.path).map { " \($0)" } ?? ""
      self.init(
        .inputOutput, "cannot read or write the file\(path): \(error.cause)",
        hint: "check the disk and its permissions; copies are made in TMPDIR")
    default: self.init(.inputOutput, "\(error)")
    }
  }
}

extension Error {
  /// The reason why a call of Foundation failed, in the system's words if there are any.
  var cause: String {
    guard let system = (self as? CocoaError)?.underlying as? POSIXError else {
      return localizedDescription
    }
    return String(cString: strerror(system.code.rawValue))
  }
}

extension Ledger {
  /// Explains why sums of revenue are empty: they exceed the exact range; nil when none does.
  func sumsBeyond() throws -> String? {
    let sums = ["gross", "refunds", "proceeds"].flatMap { ["\($0)_usd", "\($0)_local"] }
    let isBeyond = sums.map { "abs(\($0)_unknown) >= \(PartialSum.carry / 2)" }
    var rows: Int64 = 0
    try self.rows(
      sql: "select count(*) from revenue_month_cell where \(isBeyond.joined(separator: " or "))"
    ) { rows = $0.number(0) }
    guard rows > 0 else { return nil }
    return try "amounts in \(counted(rows, "row")) of revenue_monthly exceed the exact range and "
      + "are left empty: \(adviceForOverflow())"
  }

  /// Explains what to do about sums that are too great.
  func adviceForOverflow() throws -> String {
    let lines = try greatestLines().joined(separator: ", ")
    return "the greatest amounts are in \(lines): if they are wrong, remove them with "
      + "`subledger retract`"
  }

  /// Returns `archive:line (currency)` of the ten greatest amounts, greatest first.
  private func greatestLines() throws -> [String] {
    var greatest: [(weight: UInt64, place: Provenance, currency: StringID)] = []
    try forEachGroup { _, events in
      for event in events {
        guard let revenue = event.revenue else { continue }
        // Sums in dollars have a thousandth of the range.
        let weight = max(
          revenue.local?.micros.magnitude ?? 0, (revenue.usd?.micros.magnitude ?? 0) * 1000)
        guard weight >= greatest.last?.weight ?? 0 || greatest.count < 10 else { continue }
        greatest.append((weight, event.place, revenue.currency))
        greatest.sort { ($1.weight, $0.place) < ($0.weight, $1.place) }
        if greatest.count > 10 { greatest.removeLast() }
      }
    }
    return try greatest.map { line in
      let archive = try archiveLabel(line.place.archive)?.name.shown() ?? ""
      let currency = symbols.words[Int(line.currency)]
      return "\(archive):\(line.place.line) (\(currency.isEmpty ? "USD" : currency))"
    }
  }
}
