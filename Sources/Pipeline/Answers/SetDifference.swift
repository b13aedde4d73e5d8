import Domain
import EventStore
import Reports

extension RunPipeline {
  /// Compares two published sets, cell by cell, regardless of their CSV dialects.
  ///
  /// - Parameters:
  ///   - one: the folder of a set, or the number of a run of the ledger, whose set is reproduced.
  ///   - other: the later set, in the same form.
  /// - Returns: reservations when a cell differs.
  /// - Throws: `SubledgerError` of kind `noInput` when there is no set, and `damagedInput` when it
  ///   was changed after it was published.
  public func compare(
    _ one: String, with other: String, as format: AnswerFormat,
    write: @escaping ([UInt8]) throws -> Void
  ) throws -> RunResult {
    let folder = try PrivateFolder()
    let before = try set(one, making: folder.path("before"))
    let after = try set(other, making: folder.path("after"))
    let rows = RowOutput(as: format, write: write)
    if format == .text {
      let heads = [before.head(named: one), after.head(named: other)]
      try write(Array((heads.joined() + before.changedOptions(in: after)).utf8))
    }
    try rows.begin(SetComparison.columns)
    var reports: Set<String> = []
    try SetComparison(before, after).forEachChange { cells in
      try checkStop()
      reports.insert(cells[0])
      try rows.add(cells.map { $0.isEmpty ? .null : .text($0) })
    }
    try rows.finish()
    if format == .text {
      let cells = "\(counted(rows.rows, "cell")) of \(counted(reports.count, "report"))"
      try write(Array((rows.rows == 0 ? "no cell differs\n" : "\(cells) differ\n").utf8))
    }
    return RunResult(hasReservations: rows.rows > 0)
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

extension ReportSet {
  /// Returns lines with as-of and reservations.
  func head(named name: String) -> String {
    ([
      "\(name.shown()): as of \(manifest.asOf.text), \(manifest.timeZone), version "
        + manifest.version
    ] + manifest.qualifications.map { "  qualified: \($0.shown())" }).map { $0 + "\n" }.joined()
  }

  /// Returns a line for each option that differs in a later set.
  func changedOptions(in later: ReportSet) -> String {
    let (old, new) = (manifest.options, later.manifest.options)
    func text(_ value: JSONValue?) -> String {
      value.map { String(decoding: $0.line, as: UTF8.self).shown() } ?? "–"
    }
    return Set(old.keys).union(new.keys).sorted().filter { old[$0] != new[$0] }
      .map { "option \($0): \(text(old[$0])) → \(text(new[$0]))\n" }.joined()
  }
}
