import Domain
import EventStore

extension SubledgerError {
  /// This error, with the lines of the greatest amounts if their sum is more than is kept exactly.
  func namingLines(of ledger: Ledger) -> SubledgerError {
    guard kind == .overflow, let lines = try? greatestLines(of: ledger), !lines.isEmpty else {
      return self
    }
    var error = self
    error.hint =
      "the greatest amounts are in \(lines.joined(separator: ", ")): if they cannot be true, make "
      + "the ledger anew from archives without these lines"
    return error
  }

  /// `archive:line (currency)` of the ten greatest amounts, the greatest first.
  private func greatestLines(of ledger: Ledger) throws -> [String] {
    var greatest: [(weight: UInt64, place: Provenance, currency: StringID)] = []
    try ledger.forEachGroup(withUserTexts: false) { _, events in
      for event in events {
        guard let revenue = event.revenue else { continue }
        // Sums of dollars have a thousandth of the room.
        let weight = max(
          revenue.local?.micros.magnitude ?? 0, (revenue.usd?.micros.magnitude ?? 0) * 1000)
        guard weight >= greatest.last?.weight ?? 0 || greatest.count < 10 else { continue }
        greatest.append((weight, event.place, revenue.currency))
        greatest.sort { ($1.weight, $0.place) < ($0.weight, $1.place) }
        if greatest.count > 10 { greatest.removeLast() }
      }
    }
    return try greatest.map { line in
      let archive = try ledger.archiveLabel(line.place.archive)?.name.shown() ?? ""
      let currency = ledger.symbols.words[Int(line.currency)]
      return "\(archive):\(line.place.line) (\(currency.isEmpty ? "USD" : currency))"
    }
  }
}
