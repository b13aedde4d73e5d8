public import Domain
internal import Formats

/// Compares runs with the chain of their records, and tables with the digests in it.
struct ChainCheck {
  private let database: Connection
  private let acts: [AuditEntry]
  private let rewritings: Rewritings

  init(_ database: Connection) throws {
    self.database = database
    acts = try database.acts()
    rewritings = Rewritings(acts)
  }

  func run(_ check: inout CheckResult) throws {
    compareActs(&check)
    let runs = try database.publishedRuns()
    for run in runs {
      check.count += 1
      try compare(run, &check)
    }
    guard let last = runs.last?.number else { return }
    if let words = try stored("string", of: last) {
      try compare(database.partOfWords(first: words.rows), of: last, &check)
    }
    try compareCurrent(last, &check)
  }

  /// Checks what a run carries on or compares with but does not compute again: breaks, decisions,
  /// months, erased persons, audit entries, and closed numbers.
  func runCarried(_ check: inout CheckResult) throws {
    compareActs(&check)
    let sealing = try database.all(
      """
      select distinct run from run_part
      where part in ('act', 'closed_report') and rows > 0
        or run = (select max(id) from run where published is not null)
      """
    ) { $0.int64(0) }
    for run in try database.publishedRuns() where sealing.contains(run.number) {
      try compare(run, only: ["act", "closed_report"], &check)
    }
    if let last = sealing.max() { try compareCurrent(last, &check) }
  }

  private func compare(
    _ run: (number: Int64, record: String), only tables: Set<String>? = nil,
    _ check: inout CheckResult
  ) throws {
    if sha256(of: Array(try database.recordText(of: run.number).utf8)) != run.record {
      check.fail("run \(run.number): the record does not match the run")
    }
    for part in try database.partsArrived(in: run.number, only: tables) {
      try compare(part, of: run.number, &check)
    }
  }

  private func compareCurrent(_ last: Int64, _ check: inout CheckResult) throws {
    // An interrupted run has changed tables that only the last run's digests prove.
    guard try !database.isAny("run where published is null") else { return }
    for part in try database.standingParts() { try compare(part, of: last, &check) }
  }

  /// Compares audit entries with their digests, including those that no run has sealed yet.
  private func compareActs(_ check: inout CheckResult) {
    for (index, act) in acts.enumerated() {
      if act.id != Int64(index) + 1 { check.fail("act \(index + 1) is missing") }
      if sha256(of: Array(act.text.utf8)) != rewritings.digest(ofAct: act) {
        check.fail("act \(act.id) was changed since it was written")
      }
    }
  }

  private func compare(_ part: RunPart, of run: Int64, _ check: inout CheckResult) throws {
    let known = try stored(part.name, of: run).map { rewritings.now($0, of: run) }
    guard known != part else { return }
    let rows = known.map { "\($0.rows)" } ?? "no"
    check.fail(
      part.rows == known?.rows
        ? "\(part.name): some of the \(rows) rows of run \(run) were changed since it"
        : "\(part.name): run \(run) wrote \(rows) rows, but \(part.rows) exist")
  }

  private func stored(_ name: String, of run: Int64) throws -> RunPart? {
    try database.first("select rows, sha256 from run_part where run = ? and part = ?", run, name) {
      RunPart(name: name, rows: $0.int64(0), sha256: $0.text(1))
    }
  }
}

extension Ledger {
  /// Refuses a ledger whose breaks, decisions, audit entries or closed numbers have changed since
  /// the last run: the next run would carry the change on and seal it.
  ///
  /// - Throws: `SubledgerError` of kind `damagedInput`.
  public func requireSealed() throws(SubledgerError) {
    try change("compare the ledger with its digests") { database in
      var check = CheckResult("chain")
      try ChainCheck(database).runCarried(&check)
      guard let problem = check.notes.first else { return }
      throw SubledgerError(
        .damagedInput, "the ledger \(path) is damaged: \(problem)",
        hint: "`subledger verify` lists the damage; restore a backup, or rebuild the ledger from "
          + "the archives in a new file")
    }
  }
}
