import Foundation
import EventStore
import Domain

extension RunPipeline {
  /// The ledger's state, as text for people.
  public func status() throws(SubledgerError) -> String {
    guard let ledger = try ledgerIfThere() else {
      return "the ledger \(plan.ledger.shown()) does not exist yet: nothing was read"
    }
    return try attempt {
      try ledger.atOneMoment {
        var lines = ["ledger \(plan.ledger.shown())"]
        lines += try archiveLines(ledger) + feedLines(ledger)
        lines += try breakLines(ledger) + monthLines(ledger) + runLines(ledger)
        lines.append(sizeLine(try ledgerSize(ledger)))
        return lines.joined(separator: "\n")
      }
    }
  }

  private func archiveLines(_ ledger: Ledger) throws -> [String] {
    let archives = try ledger.archives()
    var total = ArchiveTallies()
    for archive in archives where archive.kind == .events { total.add(archive.tallies) }
    func count(_ kind: ArchiveKind) -> String {
      let files = archives.filter { $0.kind == kind }
      let repeated = files.count { $0.status == .repeated }
      let damaged = files.count { $0.status == .damaged }
      return "\(files.count), \(repeated) repeated, \(damaged) damaged"
    }
    return [
      "archives  \(count(.events))", "snapshots \(count(.snapshots))",
      "lines     \(total.lines): \(total.accepted) accepted, \(total.duplicates) duplicates, "
        + "\(total.skipped) skipped, \(total.rejected) rejected",
    ]
  }

  private func feedLines(_ ledger: Ledger) throws -> [String] {
    try ledger.watermarks().map { mark in
      let app = ledger.symbols.words[Int(mark.app)].escaped
      return "feed      \(mark.provider.name) \(app.isEmpty ? "(no app id)" : app): "
        + "newest input \(mark.newest.text), first event \(mark.firstEvent.text)"
    }
  }

  /// The newest months of the newest set's time zone, and those closed in others; `--format json`
  /// has all.
  private func monthLines(_ ledger: Ledger) throws -> [String] {
    let zone = try ledger.lastPublished().flatMap { try ledger.zone(of: $0.id) }
    let states = try ledger.monthStates()
    let hasZones = Set(states.map(\.zone)).count > 1
    let closed = states.filter { $0.zone != zone && $0.closedRun != nil }
    return (states.filter { $0.zone == zone }.prefix(13) + closed.prefix(13)).map { state in
      let run = state.closedRun.map { ", with the numbers of run \($0)" } ?? ""
      let rows =
        state.standing == .open ? ", \(state.incompleteRows) of \(state.rows) rows can change" : ""
      let place = hasZones ? " in \(state.zone)" : ""
      return "month     \(state.month.text) \(state.standing.rawValue)\(place)\(run)\(rows)"
    }
  }

  private func sizeLine(_ size: LedgerSize) -> String {
    let each = size.perAccepted.map { ", \($0) per accepted line" } ?? ""
    return "size      \(size.bytes) bytes\(each)"
  }

  private func runLines(_ ledger: Ledger) throws -> [String] {
    try ledger.runs(newest: 5).map { run in
      let published = run.published.map { "published \($0.prefix(12))" } ?? "not published"
      return "run \(run.id)  as of \(run.asOf.text), \(run.archives) archives, "
        + "\(run.tallies.lines) lines, \(published)"
    }
  }
}
