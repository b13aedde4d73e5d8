import Domain
import EventStore
import Reports

extension RunPipeline {
  /// Compares two published sets, cell by cell, regardless of their CSV dialects.
  ///
  /// - Parameters:
  ///   - one: the folder of a set, or the number of a run of the ledger, whose set is reproduced.
  ///   - other: the later set, in the same form.
  ///   - write: receives the answer, piece by piece.
  /// - Returns: reservations when a cell differs.
  /// - Throws: `SubledgerError` of kind `noInput` when there is no set, and `damagedInput` when it
  ///   was changed after it was published.
  public func compare(
    _ one: String, with other: String, as format: AnswerFormat,
    write: @escaping ([UInt8]) throws -> Void
  ) throws -> RunResult {
    let folder = try PrivateFolder()
    defer { withExtendedLifetime(folder) {} }
    let before = try set(one, making: folder.path("before"))
    let after = try set(other, making: folder.path("after"))
    let output = DifferenceOutput(as: format, write: write)
    try output.begin(before, named: one, after, named: other)
    try SetComparison(before, after).forEachChange { change in
      try checkStop()
      try output.add(change)
    }
    try output.finish()
    return RunResult(hasReservations: output.cells > 0)
  }

  /// Returns the set in the folder `name`, or that of the run with this number, reproduced in
  /// `folder`.
  private func set(_ name: String, making folder: String) throws -> ReportSet {
    if let run = Int64(name), !mayExist(name) {
      try requireLedger(to: "make the set of run \(run) from")
      _ = try reproduce(run, into: folder)
      return try ReportSet(publishedIn: folder)
    }
    let set = try ReportSet(publishedIn: name)
    if let problem = try inspectSet(in: name).problems.first {
      throw SubledgerError(
        .damagedInput, "cannot compare the report set in \(name.shown()): \(problem.shown())",
        hint: "publish it again with `subledger report`, or give the number of its run")
    }
    return set
  }
}

private final class DifferenceOutput {
  private(set) var cells = 0
  private let rows: RowOutput?
  private let write: ([UInt8]) throws -> Void
  /// The report and month of the last cell.
  private var heading = ""
  private var reports: Set<String> = []

  init(as format: AnswerFormat, write: @escaping ([UInt8]) throws -> Void) {
    self.write = write
    rows = format == .text ? nil : RowOutput(as: format == .csv ? .csv : .json, write: write)
  }

  /// Writes the names of the sets, and the options that differ, for a person.
  func begin(
    _ before: ReportSet, named one: String, _ after: ReportSet, named other: String
  ) throws {
    if let rows {
      return try rows.begin([
        "report", "period", "key", "column", "before", "after", "delta", "cause",
      ])
    }
    for (side, set, name) in [("before", before, one), ("after", after, other)] {
      let manifest = set.manifest
      try line(
        padded(side, to: 7) + "\(name.shown()): as of \(manifest.asOf.text), "
          + "\(manifest.timeZone), version \(manifest.version)")
      for reason in manifest.qualifications { try line("       qualified: \(reason.shown())") }
    }
    let (old, new) = (before.manifest.options, after.manifest.options)
    for name in Set(old.keys).union(new.keys).sorted() where old[name] != new[name] {
      try line("option \(name): \(Self.text(old[name])) → \(Self.text(new[name]))")
    }
  }

  func add(_ change: CellChange) throws {
    cells += 1
    if let rows {
      return try rows.add(
        [
          change.report, change.period, change.key, change.column, change.before, change.after,
          change.delta, change.cause,
        ].map { $0.isEmpty ? .null : .text($0) })
    }
    reports.insert(change.report)
    // Days and instants are listed under their month, ids under their report.
    let isDated = change.period.firstMatch(of: /^\d{4}-\d\d/) != nil
    let place = change.report + (isDated ? " \(change.period.prefix(7))" : "")
    if place != heading {
      heading = place
      try line("\n\(place)")
    }
    let key = [isDated && change.period.utf8.count == 7 ? "" : change.period, change.key]
      .filter { !$0.isEmpty }.joined(separator: ",")
    let values = [change.before, change.after].map { $0.isEmpty ? "–" : $0.shown() }
    let sign = change.delta.hasPrefix("-") ? "" : "+"
    let delta = change.delta.isEmpty ? "" : " (\(sign)\(change.delta))"
    try line(
      "  \(key.shown())  \(change.column)  \(values.joined(separator: " → "))\(delta)"
        + (change.cause.isEmpty ? "" : "  \(change.cause)"))
  }

  func finish() throws {
    if let rows { return try rows.finish() }
    guard cells > 0 else { return try line("no cell differs") }
    try line("\n\(counted(cells, "cell")) of \(counted(reports.count, "report")) differ")
  }

  private func line(_ text: String) throws { try write(Array((text + "\n").utf8)) }

  private static func text(_ value: JSONValue?) -> String {
    guard let value else { return "–" }
    if case .string(let text) = value { return text.shown() }
    return String(decoding: value.line, as: UTF8.self)
  }
}
