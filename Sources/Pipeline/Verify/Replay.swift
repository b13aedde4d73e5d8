import Domain
import EventStore
import Providers
import Reports

extension RunPipeline {
  /// Rebuilds the ledger from the archives alone, and compares counted events and reports.
  func proveReplay(
    _ copy: String, in folder: borrowing PrivateFolder
  ) throws -> [CheckResult] {
    var counted = CheckResult("replay.events", unit: "events")
    var reports = CheckResult("replay.reports", unit: "files")
    let ledger = try Ledger.open(path: copy, mode: .readOnly)
    let files = try ledger.archives()
    let retracted = try ledger.retractedLines()
    let archives = files.filter { $0.isRead && retracted[$0.id]?.isWhole != true }
    let locations = try locate(archives, among: files, acceptsGrown: false)
    // An archive that is the beginning of another one is read with that one.
    let read = zip(archives, locations).filter { !$1.isInLonger }
    let lost = zip(archives, locations).filter { $1.path == nil }
    guard lost.isEmpty else {
      let missing = lost.filter { $1.problem == nil }.map(\.0.name)
      if !missing.isEmpty {
        let names = missing.prefix(20).joined(separator: ", ")
        counted = counted.skipped("\(Domain.counted(missing.count, "archive")) missing: \(names)")
      }
      for reason in lost.compactMap(\.1.problem).prefix(20) { counted = counted.skipped(reason) }
      return [counted, reports.skipped("no replay without all archives")]
    }
    // The secrets of the runs that rejected these lines are not known.
    let (refused, unlisted) = try refusals(of: archives, in: ledger)
    if let unlisted {
      let reason = "no replay without the list of rejected lines"
      return [counted.skipped(unlisted), reports.skipped(reason)]
    }
    if refused > 0 {
      counted.notes.append(
        "\(refused) lines that are listed as \(unauthenticated) are left out")
    }
    let again = try Ledger.open(path: folder.path("replay.sqlite"), mode: .readWrite)
    try again.adoptErasures(of: ledger)
    try replay(read, from: ledger, into: again, retracted)
    let erased = try again.erasedUsersCount()
    if erased > 0 {
      counted.notes.append(
        "ids in the archives that were erased from the ledger: \(erased); rewrite the archives")
    }
    try compare(ledger, with: again, &counted)
    guard let run = try ledger.lastPublished(),
      archives.allSatisfy({ $0.run <= run.id })
    else { return [counted, reports.skipped("archives were ingested after the last run")] }
    // The charges that a decision is about depend on which were missing when the decision was made.
    let decisions = try ledger.unpublishedRun() == nil ? ledger.decisions() : nil
    var repeated = try publishAgain(
      run, of: ledger, from: again, into: folder.path("replayed"), decisions: decisions)
    reports.notes.append("except those about arrival")
    repeated.differing.removeAll { dependsOnArrival($0) || $0 == manifestName }
    reports.take(repeated, by: version)
    return [counted, reports]
  }

  /// The number of listed lines that were rejected for their secret, and a sentence about archives
  /// with more of them than are listed: read again, these would count; nil if there are none.
  func refusals(
    of archives: [ArchiveRecord], in ledger: Ledger
  ) throws -> (lines: Int, unlisted: String?) {
    var lines = 0
    var names: [String] = []
    for archive in archives where archive.kind == .events {
      let refused = try ledger.rejects(for: unauthenticated, of: archive.sha256)
      lines += refused?.count ?? 0
      if refused == nil { names.append(archive.name) }
    }
    guard !names.isEmpty else { return (lines, nil) }
    let shown = names.prefix(20).joined(separator: ", ")
    return (lines, "more lines of \(shown) were rejected as \(unauthenticated) than are listed")
  }

  /// Reads the archives in order of arrival, each with the settings of its run.
  ///
  /// A line that was retracted from an archive is retracted from all archives of its log.
  func replay(
    _ archives: [(ArchiveRecord, ArchiveLocation)], from ledger: Ledger, into again: Ledger,
    _ retracted: [Int64: RetractedLines]
  ) throws {
    var summary = IntakeSummary()
    var lines: [Int64: Set<Int64>] = [:]
    for archive in try ledger.archives() {
      guard let retracted = retracted[archive.id], !retracted.isWhole else { continue }
      lines[archive.stream, default: []].formUnion(retracted.lines)
    }
    again.stop = stop
    for (archive, location) in archives {
      let bytes = try BytesOfArchive(archive, at: location, by: plan.sources)
      var replayed = plan
      if let row = try ledger.run(archive.run), row.published != nil {
        let then = try history(of: archive.run, in: ledger).plan.configuration
        replayed.reading = then.reading
        replayed.retrySchedules = then.retrySchedules
        replayed.valueBytesMax = then.valueBytesMax
      }
      replayed.configuration.secrets = [:]
      replayed.archives = archive.kind == .events ? [bytes.path] : []
      replayed.snapshots = archive.kind == .snapshots ? [bytes.path] : []
      replayed.engine = .embedded
      var intake = Intake(pipeline: following(replayed, silently: true), ledger: again)
      intake.replayed = archive
      intake.replayed?.bytes = bytes.count
      intake.retracted = lines[archive.stream] ?? []
      again.expect(archive)
      intake.refused =
        try ledger.rejects(for: unauthenticated, of: archive.sha256) ?? [:]
      try intake.readArchives(into: &summary)
      try intake.readSnapshots(into: &summary)
    }
    again.expect(nil)
  }

  private func compare(
    _ ledger: Ledger, with again: Ledger, _ check: inout CheckResult
  ) throws {
    // Some of the keys at a time, so that memory stays bounded.
    for keys in lineageKeys(shares: 64) {
      try checkStop()
      let here = try ledger.countedContent(keys: keys)
      let there = try again.countedContent(keys: keys)
      check.count += here.values.reduce(0) { $0 + $1.events }
      for key in Set(here.keys).union(there.keys).sorted() where here[key] != there[key] {
        let (ours, theirs) = (here[key]?.events ?? 0, there[key]?.events ?? 0)
        check.fail(
          ours == theirs
            ? "lineage \(key): the archives contain other events"
            : "lineage \(key): \(ours) events, but the archives contain \(theirs)",
          as: .differs)
      }
    }
  }
}
