import Foundation
import EventStore
import Domain

/// How big the ledger is on disk.
struct LedgerSize {
  /// The file and its write-ahead log.
  let bytes: Int64
  /// Lines that brought something new.
  let accepted: Int64

  /// Bytes per line that brought something new; nil before there is one.
  var perAccepted: Int64? { accepted > 0 ? bytes / accepted : nil }
}

extension RunPipeline {
  /// The ledger's state, as a JSON object for programs.
  public func statusJSON() throws(SubledgerError) -> String {
    var facts: [String: JSONValue] = ["ledger": .string(plan.ledger)]
    if let ledger = try ledgerIfThere() {
      try attempt {
        try ledger.atOneMoment {
          facts["runs"] = .array(try ledger.runs(newest: .max).map(\.told))
          facts["feeds"] = .array(
            try ledger.watermarks().map { $0.told(ledger.symbols.words) })
          facts["breaks"] = .array(try ledger.breakCounts().map(\.told))
          facts["months"] = .array(try ledger.monthStates().map(\.told))
          facts["acts"] = .array(try ledger.acts().map(\.told))
          let size = try ledgerSize(ledger)
          facts["bytes"] = .integer(size.bytes)
          facts["accepted"] = .integer(size.accepted)
          facts["bytes_per_accepted_line"] = size.perAccepted.map(JSONValue.integer) ?? .null
        }
      }
    }
    facts["exists"] = .bool(facts["runs"] != nil)
    return String(decoding: JSONValue.object(facts).document.dropLast(), as: UTF8.self)
  }

  /// The ledger, only to be read; nil where there is none yet, also while the first run of all
  /// makes the file.
  func ledgerIfThere() throws(SubledgerError) -> Ledger? {
    do {
      return try Ledger.open(path: plan.ledger, mode: .readOnly)
    } catch {
      guard error.kind == .missing else { throw SubledgerError(error) }
      return nil
    }
  }

  func ledgerSize(_ ledger: Ledger) throws -> LedgerSize {
    let bytes = LedgerFiles(of: plan.ledger).content.reduce(Int64(0)) { sum, path in
      let attributes = try? FileManager.default.attributesOfItem(atPath: path)
      return sum + Int64((attributes?[.size] as? Int) ?? 0)
    }
    let accepted = try ledger.archives().filter { $0.kind == .events }
      .reduce(0) { $0 + $1.tallies.accepted }
    return LedgerSize(bytes: bytes, accepted: accepted)
  }
}

extension RunRow {
  var told: JSONValue {
    .object([
      "run": .integer(id), "as_of": .string(asOf.text), "version": .string(version),
      "archives": .integer(archives), "lines": .integer(tallies.lines),
      "accepted": .integer(tallies.accepted), "duplicates": .integer(tallies.duplicates),
      "skipped": .integer(tallies.skipped), "rejected": .integer(tallies.rejected),
      "published": published.map(JSONValue.string) ?? .null,
    ])
  }
}

extension Watermark {
  func told(_ words: [String]) -> JSONValue {
    .object([
      "provider": .string(provider.name), "app_id": .string(words[Int(app)]),
      "newest_input": .string(newest.text), "first_event": .string(firstEvent.text),
    ])
  }
}

extension BreakCount {
  var told: JSONValue {
    .object([
      "status": .string(status), "severity": .string(severity), "code": .string(code),
      "count": .integer(count), "missing_events": .integer(missingEvents),
      "estimated_usd": .string(estimatedUSD.text()), "without_estimate": .integer(withoutEstimate),
      "oldest": oldest.map { JSONValue.string($0.text) } ?? .null,
    ])
  }
}

extension MonthState {
  var told: JSONValue {
    .object([
      "month": .string(month.text), "timezone": .string(zone),
      "state": .string(standing.rawValue), "rows": .integer(rows),
      "incomplete_rows": .integer(incompleteRows),
      "closed_run": closedRun.map(JSONValue.integer) ?? .null,
    ])
  }
}

extension AuditEntry {
  var told: JSONValue {
    .object([
      "act": .integer(id), "after_run": .integer(run), "what": .string(deed.rawValue),
      "month": month.map { JSONValue.string($0.text) } ?? .null, "reason": .string(reason),
      "who": .string(who),
    ])
  }
}
