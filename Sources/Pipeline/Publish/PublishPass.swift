import EventStore
import Logging
import Reports
import Reconciliation
import Domain
import Page

/// Writes facts and breaks to the ledger and to CSV, and publishes the folder.
struct PublishPass {
  let pipeline: RunPipeline
  let ledger: Ledger
  let rules: FoldSettings
  /// The input that is folded.
  let basis: FactCheckpoint
  /// Throws when the set with these checksums must not be published.
  let accept: ([UInt8]) throws -> Void
  /// Finds new events when the ledger does not store any; nil when it stores all.
  let arrivals: (@Sendable (Ledger, Int32) throws -> Ledger)?

  var plan: Plan { pipeline.plan }
  private var log: Logger { pipeline.log }

  /// Publishes the set and returns whether it needs attention.
  ///
  /// Takes the facts out of `fold`: once they are in the ledger, the reports need their memory.
  func run(
    fold: inout Folded, reconciled: Reconciled, intake: IntakeSummary
  ) throws -> RunResult {
    let archives = try ledger.archives(byName: true)
    var manifest = manifest(archives, reconciled.result.counts)
    let (run, decided) = try store(&fold, reconciled, archives)
    manifest.counts.merge(decided.counts) { $1 }
    fold.result.facts = Facts()
    try ledger.releaseMemory()
    let incomplete = try ledger.incompleteSnapshots(asOf: rules.asOf)
    let read = try ledger.intake(ofRun: run)
    let gate = try QualityGate(
      plan: plan, rules: rules, breaks: decided.undecided, archives: archives,
      intake: read.counts, incompleteSnapshots: incomplete, sumsBeyond: try ledger.sumsBeyond()
    ) { month in try ledger.netUSD(of: month) }
    manifest.qualifications = gate.qualifications
    // Nothing is read from the ledger after the publication: damage would turn it into a failure.
    let warnings =
      gate.reservations.map { ("reservation", $0) }
      + (try unknownNames(ofRun: run)).map { ("unknown_input", $0) }
      + [try lostSettings(since: run)].compactMap(\.self).map { ("settings_lost", $0) }
    let (published, dryRun) = try publish(&manifest, run, read, fold)
    for (code, text) in warnings { log.warning("\(text)", metadata: ["code": "\(code)"]) }
    for id in decided.unused {
      log.warning(
        """
        the decision about \(id) is not used: this run found no such break; correct its break_id, \
        or remove the decision if the break is resolved
        """, metadata: ["code": "decision_unused", "break_id": "\(id)"])
    }
    // The run that read them has already warned.
    if let incomplete, incomplete.rejected > 0, intake.snapshotsRejected == 0,
      !gate.reservations.contains(incomplete.text)
    {
      log.warning("\(incomplete.text)", metadata: ["code": "snapshots_rejected"])
    }
    let files = counted(published.changed.count, "changed file")
    let action = plan.isDryRun ? "would publish" : "published"
    log.info(
      "\(action) \(files); \(counted(decided.breaks.count, "break"))",
      metadata: ["code": "published", "breaks": "\(decided.breaks.count)"])
    var outcome = RunResult(hasReservations: !gate.reservations.isEmpty, dryRun: dryRun)
    if dryRun == nil {
      outcome.summary = try RunSummary(
        of: ReportSet(in: plan.out, manifest), after: intake, reservations: gate.reservations,
        breaks: ledger.breakCounts())
      if plan.metrics != nil {
        outcome.metrics = try RunMetrics(
          plan: plan, ledger: ledger, rules: rules, read: read.counts)
      }
    }
    return outcome
  }

  /// Stores cells and breaks of this run in one transaction; returns the run's number, and the
  /// breaks with the decisions.
  ///
  /// Takes the breaks out of `fold`: there can be as many as events.
  private func store(
    _ fold: inout Folded, _ reconciled: Reconciled,
    _ archives: [ArchiveRecord]
  ) throws -> (run: Int64, breaks: DecidedBreaks) {
    let change = fold.change(reconciled, basis: basis, calendar: rules.calendar)
    return try ledger.together("write the run") {
      let run = try ledger.beginRun(
        asOf: rules.asOf, version: pipeline.version, options: plan.optionsText,
        documents: plan.documents())
      try Workers(count: plan.jobs, waitingMax: 4).make(try ledger.begin(change)) {
        try ledger.write($0, of: change)
      }
      try ledger.finish(change)
      try fold.cells?.addCells(to: ledger)
      let gaps = FeedGapBreaks(ledger: ledger, rules: rules, archives: archives)
      var breaks: [Break] = []
      swap(&breaks, &fold.result.breaks)
      breaks += reconciled.result.breaks
      breaks += staleFeeds(rules)
      breaks += try gaps.run()
      // A break from reconciliation replaces one with the same id from events alone.
      breaks.sortKeepingLastOfEachID()
      breaks.valueLossesOnce(by: rules, plan.severity)
      for index in breaks.indices {
        breaks[index] = plan.severity.aged(breaks[index], asOf: rules.asOf)
      }
      let decided = try DecidedBreaks(
        breaks, plan.decisions.decisions, previous: ledger.knownBreak)
      try ledger.replaceDecisions(decided.decisions)
      let counts = try ledger.storeBreaks(breaks, asOf: rules.asOf, run: run)
      log.info(
        "breaks: \(counts.new) new, \(counts.reopened) reopened, \(counts.resolved) resolved",
        metadata: [
          "code": "breaks", "new": "\(counts.new)", "reopened": "\(counts.reopened)",
          "resolved": "\(counts.resolved)",
        ])
      return (run, decided)
    }
  }

  private func publish(
    _ manifest: inout Manifest, _ run: Int64, _ read: (archives: Int64, counts: ArchiveCounts),
    _ fold: Folded
  ) throws -> (Publication, dryRun: [String]?) {
    var reportPlan = ReportPlan(rules: rules, run: run)
    reportPlan.dialect = plan.csvDialect
    reportPlan.amountDecimals = plan.amountDecimals
    reportPlan.previous = fold.previous
    reportPlan.feeds = try reportFeeds(of: ledger, by: rules)
    reportPlan.stop = pipeline.stop
    if let arrivals { reportPlan.arrivals = arrivals }
    reportPlan.previousDecisions = { ledger, run in
      let previous = try ledger.documents(ofRun: run).decisions?.content()
      let name = "the decisions that run \(run) followed"
      return try DecisionsFile(previous ?? [], named: name).decisions
    }
    // A dry run writes its set into a temporary folder.
    let folder = plan.isDryRun ? try PrivateFolder() : nil
    let out = folder?.path("reports") ?? plan.out
    let staging = try Staging.begin(for: out)
    do {
      let reports = try writeSet(&manifest, by: reportPlan, with: fold, into: staging.path)
      // From here on, nothing interrupts between the published set and its record in the ledger.
      try reportPlan.checkStop()
      ledger.stop = nil
      let set = try staging.sealed(by: manifest, of: reports)
      try accept(set.checksums)
      // Damaged pages of the ledger are found before the set is visible.
      let publication = try ledger.together("finish the run") {
        let checksums = Document(set.checksums)
        try ledger.finishRun(
          run, archives: read.archives, counts: read.counts,
          published: checksums.sha256, checksums: checksums,
          qualified: manifest.qualifications, publication: reports.publication)
        // Many threads, because disks complete concurrent syncs together.
        let workers = Workers(count: plan.jobs * 4)
        // A power cut must not leave a set without a record in the ledger.
        return try Reports.publish(set, syncing: ledger.logPlaces, each: workers.each)
      }
      for leftover in staging.leftovers {
        log.warning(
          "a previous set could not be removed completely; the next run tries again: \(leftover)",
          metadata: ["code": "former_set_left"])
      }
      guard plan.isDryRun else { return (publication, nil) }
      let changes = try plannedChanges(of: plan.out, by: set)
      return (publication, [RunResult.dryRunNotice] + changes)
    } catch {
      try? staging.discard()
      throw error
    }
  }

  /// Writes all of the set except its manifest, adds the files to the manifest, and at the same
  /// time copies the ledger's log into its file.
  private func writeSet(
    _ manifest: inout Manifest, by reportPlan: ReportPlan, with fold: Folded,
    into folder: String
  ) throws -> WrittenReports {
    let path = ledger.path
    return try Workers.beside({ Ledger.checkpointAhead(path: path) }) {
      var reports = try writeReports(by: reportPlan, with: fold, into: folder)
      var cubes: [Cube] = []
      let written = reports.set(in: folder)
      try Workers(count: plan.jobs).run(
        SetSums.shapes, { try $1(Cube($0, of: written)) }, take: { cubes.append($1) })
      let sums = SetSums(cubes)
      try reports.finish(in: folder, sums, checkedBy: ledger)
      manifest.resources = reports.tables
      let set = ReportSet(in: folder, manifest)
      try writePage(of: set, sums, in: plan.locale)
      if plan.hasWorkbook {
        let room = try PrivateFolder()
        try writeWorkbook(of: set, in: room.path(""), check: reportPlan.checkStop)
      }
      return reports
    }
  }

  /// Writes the shares of the set in parallel, each with a separate connection.
  private func writeReports(
    by reportPlan: ReportPlan, with fold: Folded, into folder: String
  ) throws -> WrittenReports {
    let path = ledger.path
    let (charges, foldRules) = (fold.charges, rules)
    let own = try plan.reports.sorted { $0.key < $1.key }.map { try CustomReport($1, named: $0) }
    var reports = WrittenReports(plan: reportPlan)
    let first: [SetWork] = (own.isEmpty ? [] : [.own]) + [.charges]
    let shares = first + ReportPartition.longestFirst.map(SetWork.share)
    var written: [SetWork: WrittenReports] = [:]
    try Workers(count: plan.jobs).run(
      shares,
      eachBy: {
        let ledger = try Ledger.open(path: path, mode: .readOnly)
        ledger.stop = reportPlan.stop
        let writer = try ledger.atOneMoment {
          try ReportWriter(from: ledger, plan: reportPlan, into: folder)
        }
        return { work, send in
          try send(
            ledger.atOneMoment {
              switch work {
              case .own:
                try own.write(from: ledger, rules: foldRules, plan: reportPlan, into: folder)
              case .share(let share): try writer.write(share)
              case .charges:
                try charges.write(into: folder, plan: reportPlan, checkedBy: ledger)
              }
            })
        }
      },
      take: { (place, share: WrittenReports) in
        written[shares[place]] = share
        pipeline.progress(of: .reports)(written.count, shares.count)
      })
    for share in first + ReportPartition.allCases.map(SetWork.share) {
      if let part = written[share] { reports.add(part) }
    }
    return reports
  }
}

/// The parallel tasks while the set is written.
private enum SetWork: Hashable {
  case own
  case charges
  case share(ReportPartition)
}
