import Ledger
import Logging
import Publish
import Reconcile
import Report
import Vocabulary

/// Facts and breaks → ledger → CSV → the published folder.
struct PublishPass {
  let plan: Plan
  let version: String
  let log: Logger
  let ledger: Ledger
  let rules: Rules
  let times: StageTimes

  /// Publishes the set and says whether somebody should look at it.
  func run(
    fold: FoldPass.Result, reconciled: ReconcileOutcome, intake: IntakeSummary
  ) throws(NightError) -> NightOutcome {
    let breaks = uniqueBreaks(fold.breaks + reconciled.breaks + staleFeeds(ledger, rules))
      .map { plan.configuration.severity.aged($0, asOf: rules.asOf) }
    let decided = DecidedBreaks(breaks, plan.decisions.decisions)
    let archives = try attempt { try ledger.archives() }
    var manifest = manifest(archives, reconciled.counts)
    manifest.counts.merge(decided.counts) { $1 }
    let verdict = Verdict(
      plan: plan, rules: rules, facts: fold.facts, breaks: decided.undecided, archives: archives)
    manifest.qualifications = verdict.qualifications
    let published = try publish(&manifest, fold.facts, breaks, intake)
    for finding in verdict.findings { log.warning("\(finding)") }
    log.info("published \(published.changed.count) changed files; \(breaks.count) breaks")
    return verdict.outcome
  }

  private func publish(
    _ manifest: inout Manifest, _ facts: Facts, _ breaks: [Break], _ intake: IntakeSummary
  ) throws(NightError) -> Publication {
    var manifest = manifest
    return try attempt {
      let run = try ledger.beginRun(
        asOf: rules.asOf, version: version, options: plan.optionsText,
        documents: plan.documents())
      try times.measure(.facts) { try ledger.replaceFacts(facts) }
      try ledger.replaceDecisions(plan.decisions.decisions)
      let tally = try ledger.storeBreaks(breaks, asOf: rules.asOf, run: run)
      log.info(
        "breaks: \(tally.new) new, \(tally.reopened) reopened, \(tally.resolved) resolved")
      var reportPlan = ReportPlan(rules: rules, run: run)
      reportPlan.dialect = plan.isExcelDialect ? .excel : .rfc4180
      reportPlan.amountDecimals = plan.amountDecimals
      let target = try DryRunTarget(plan)
      let staging = try Staging.begin(for: target.out)
      do {
        let tables = try times.measure(.report) {
          try writeTables(by: reportPlan, into: staging.path)
        }
        manifest.resources = tables.map(ManifestResource.init)
        // A power cut must not leave a set that the ledger knows nothing of.
        try ledger.sync()
        let publication = try times.measure(.publish) {
          try Publish.publish(staging, manifest: manifest)
        }
        try ledger.finishRun(
          run, archives: Int64(intake.archivesRead), tallies: intake.tallies,
          published: publication.sha256, checksums: checksums(of: publication))
        if plan.isDryRun { try target.tell(publication, log) }
        return publication
      } catch {
        try? staging.discard()
        throw error
      }
    }
  }

  /// Writes the shares of the set in parallel, each by a connection of its own.
  private func writeTables(
    by reportPlan: ReportPlan, into folder: String
  ) throws -> [ReportTable] {
    let path = ledger.path
    var tables: [ReportTable] = []
    try Workers(count: plan.jobs).run(
      ReportShare.allCases,
      { share, tell in
        let part = Result {
          let reader = try Ledger.open(path: path, mode: .readOnly)
          return try writeReports(share, from: reader, plan: reportPlan, into: folder)
        }
        _ = tell(part)
      },
      take: { tables += try $1.get() })
    try checkReports(tables, in: ledger)
    return tables
  }

  /// One break per id: what reconciliation says of it beats what one event alone says.
  private func uniqueBreaks(_ breaks: [Break]) -> [Break] {
    var byID: [String: Break] = [:]
    for found in breaks { byID[found.id] = found }
    return byID.values.sorted { $0.id < $1.id }
  }

  private func checksums(of publication: Publication) throws(NightError) -> Document {
    try Document(publication.checksums)
  }
}

extension IntakeSummary {
  var tallies: ArchiveTallies {
    var tallies = ArchiveTallies()
    tallies.lines = accepted + duplicates + skipped + rejected
    tallies.accepted = accepted
    tallies.duplicates = duplicates
    tallies.skipped = skipped
    tallies.rejected = rejected
    return tallies
  }
}
