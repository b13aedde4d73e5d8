public import Domain
public import Logging

import EventStore
import Formats
import Foundation
import Reconciliation
import Reports

/// The whole run on one page.
///
///     files ─ ingest ─▶ Ledger ─ fold ─▶ Folded ─ reconcile ─▶ Reconciled ─ publish ─▶ RunResult
///
/// Each stage hands values to the next one and nothing calls back: workers read files into batches
/// and make rows, one thread writes them; workers fold groups of events, one thread adds them up.
public struct RunPipeline {
  /// What the fold gives: facts, or what is to be added to them, and the breaks of events alone.
  typealias Folded = FactRefresh.Outcome
  /// What comparison with snapshots gives: breaks, of every user.
  typealias Reconciled = ReconcilePass.Outcome

  var plan: Plan
  let version: String
  private(set) var log: Logger
  let progress: (RunProgress) -> Void
  let stop: @Sendable () -> Int32
  /// Nil where this process does everything.
  let spark: SparkEngine?

  /// A run with the settings of flags, variables, the configuration file and defaults.
  ///
  /// - Parameters:
  ///   - flags: the texts of each option of the command line, by the setting's name.
  ///   - environment: the process's variables.
  ///   - now: the clock, read once by the command; the default of as-of.
  ///   - version: the program's, for the manifest.
  ///   - log: makes the operator's log.
  ///   - progress: makes what shows the progress.
  ///   - stop: returns the signal that asked to stop, 0 while none did; called by any thread.
  /// - Throws: `SubledgerError` of kind `usage` or `configuration`.
  public init(
    flags: [String: [String]], environment: [String: String], now: Instant, version: String,
    log: (LogOptions) -> Logger, progress: (LogOptions) -> (RunProgress) -> Void,
    stop: @escaping @Sendable () -> Int32
  ) throws {
    let plan = try Plan(flags: flags, environment: environment, now: now)
    self.init(
      plan: plan, version: version, log: log(plan.log), progress: progress(plan.log), stop: stop)
  }

  /// Threads that read archives, fold and write reports.
  public var jobs: Int { plan.jobs }

  init(
    plan: Plan, version: String, log: Logger, progress: @escaping (RunProgress) -> Void,
    stop: @escaping @Sendable () -> Int32
  ) {
    self.plan = plan
    self.version = version
    self.log = log
    self.progress = progress
    self.stop = stop
    spark = plan.engine == .spark ? SparkEngine(plan, log: log, stop: stop) : nil
  }

  /// Reads what is new and publishes the report set anew.
  ///
  /// - Parameter clock: the time now, for fetching snapshots of users who are due before; nil
  ///   fetches none.
  public func run(fetchingBy clock: (() -> Instant)? = nil) throws -> RunResult {
    let pipeline = try withLists().withStandardInput()
    if plan.hasWorkbook { try requireWorkbooks() }
    if !mayExist(plan.ledger) { try requireOwnSet(in: nil) }
    try pipeline.requireInput()
    return try pipeline.withLedger { ledger in
      try requireOwnSet(in: ledger)
      var pipeline = try pipeline.numbered(by: ledger)
      var isFetched = true
      let intake = try pipeline.ingest(into: ledger) {
        if let clock { isFetched = try $0.fetchDue(from: ledger, clock) }
      }
      pipeline.warnOfLateAsOf()
      try pipeline.warnOfClosesElsewhere(in: ledger)
      var outcome = try pipeline.withKeptDecisions(of: ledger).publish(from: ledger, after: intake)
      outcome.dryRun?.intake = intake.text
      if !intake.unreadable.isEmpty || !isFetched { outcome.hasReservations = true }
      return outcome
    }
  }

  /// Reads what is new into the ledger, nothing else.
  public func ingest() throws -> RunResult {
    let pipeline = try withStandardInput()
    try pipeline.requireInput()
    return try withLedger { ledger in
      var pipeline = try pipeline.numbered(by: ledger)
      let intake = try pipeline.ingest(into: ledger)
      return RunResult(
        hasReservations: !intake.unreadable.isEmpty,
        dryRun: plan.isDryRun ? DryRun(intake: intake.text) : nil)
    }
  }

  /// Publishes the report set from the ledger as it stands.
  ///
  /// As of a time before the newest run's, or into another folder, it is a look: it changes nothing
  /// that other commands answer.
  public func report() throws -> RunResult {
    let pipeline = try withLists()
    if plan.hasWorkbook { try requireWorkbooks() }
    try requireLedger()
    return try pipeline.withLedger { ledger in
      try requireOwnSet(in: ledger)
      try refuseNothing(IntakeSummary(), ledger)
      pipeline.warnOfLateAsOf()
      var following = try pipeline.numbered(by: ledger).withKeptDecisions(of: ledger)
      guard let newest = try ledger.lastPublished(), try isLook(past: newest, in: ledger) else {
        return try following.publish(from: ledger, after: IntakeSummary())
      }
      log.info("a look: status, explain, close and pack stay with run \(newest.id)")
      following.plan.metrics = nil
      let room = try PrivateFolder()
      defer { withExtendedLifetime(room) {} }
      let copy = room.path("ledger.sqlite")
      try ledger.copy(to: copy, stop: stop)
      return try following.publish(
        from: try Ledger.open(path: copy, mode: .readWrite), after: IntakeSummary()
      ) { try ledger.announce(set: sha256(of: $0), in: nil) }
    }
  }

  /// This run with the decisions as `ledger` has them, where it rewrote this very file: what was
  /// taken out of it with an erased person does not come back by it.
  private func withKeptDecisions(of ledger: Ledger) throws -> RunPipeline {
    guard let name = plan.decisions.sha256,
      let run = try ledger.lastRun(withDecisions: name),
      let kept = try ledger.documents(ofRun: run).decisions,
      kept.contentSHA256 != name
    else { return self }
    log.warning(
      """
      the decisions \(plan.configuration.job.decisions?.path ?? "") name a person who was erased: \
      they are followed as the ledger rewrote them. Change them so
      """, metadata: ["code": "decisions_rewritten"])
    var pipeline = self
    pipeline.plan.decisions = try DecisionsFile(
      try kept.content(), named: "the decisions that run \(run) followed")
    return pipeline
  }

  /// This run with its number in the ledger in all that it logs.
  private func numbered(by ledger: Ledger) throws -> RunPipeline {
    var pipeline = self
    pipeline.log[metadataKey: "run"] = "\(try ledger.nextRun())"
    return pipeline
  }

  /// This run with what came on standard input, if an archive of the plan is `-`.
  private func withStandardInput() throws -> RunPipeline {
    let count = (plan.archives + plan.snapshots).count { $0 == "-" }
    guard count > 0 else { return self }
    guard count == 1 else {
      throw SubledgerError(
        .usage, "- is given twice, and standard input is one archive",
        hint: "give it once, to --archives or to --snapshots")
    }
    var pipeline = self
    pipeline.plan.sources.input = try StandardInput(keptIn: NSTemporaryDirectory(), stop: stop)
    return pipeline
  }

  private func withLists() throws -> RunPipeline {
    var pipeline = self
    pipeline.plan = try plan.withLists()
    return pipeline
  }

  /// A run like this one that follows `plan`, without log messages if `silently`.
  func following(_ plan: Plan, silently: Bool = false) -> RunPipeline {
    RunPipeline(
      plan: plan, version: version, log: silently ? Self.silent : log, progress: progress,
      stop: stop)
  }

  /// For repeated runs.
  static let silent = Logger(label: "subledger.silent") { _ in SwiftLogNoOpLogHandler() }

  /// Reads archives, does `fetch`, which may change as-of, and reads snapshots.
  private mutating func ingest(
    into ledger: Ledger, _ fetch: (inout RunPipeline) throws -> Void = { _ in }
  ) throws -> IntakeSummary {
    var summary = IntakeSummary()
    ledger.stop = stop
    try requireEngine(of: ledger)
    try Intake(pipeline: self, ledger: ledger).readArchives(into: &summary)
    try fetch(&self)
    try Intake(pipeline: self, ledger: ledger).readSnapshots(into: &summary)
    try withdrawDamage(in: ledger, &summary)
    log.info(
      "\(summary.text)",
      metadata: Logger.Metadata(
        uniqueKeysWithValues: [("code", "read")] + summary.record.fields.map { ($0, "\($1.raw)") }))
    try refuseNothing(summary, ledger)
    try ledger.releaseMemory()
    return summary
  }

  /// Folds, reconciles and publishes what `ledger` holds; `accept` keeps the checksums of the set
  /// in place of `ledger`, and throws when it must not be published.
  func publish(
    from ledger: Ledger, after intake: IntakeSummary, accept: (([UInt8]) throws -> Void)? = nil
  ) throws -> RunResult {
    do {
      ledger.stop = stop
      try requireKept(plan.rules.asOf, in: ledger)
      let feeds = try plan.feeds(of: ledger)
      let rules = try reconcileRules(for: ledger, feeds: feeds)
      try requireNear(rules.fold)
      try requireEngine(of: ledger)
      let spark = try ledger.isOnLake() == true ? spark : nil
      var (folded, reconciled): (Folded, Reconciled) =
        if let spark {
          try foldAndReconcile(ledger, rules, by: spark)
        } else {
          try foldAndReconcile(ledger, rules)
        }
      let publication = PublishPass(
        pipeline: self, ledger: ledger, rules: rules.fold, feeds: feeds,
        accept: accept ?? { try ledger.announce(set: sha256(of: $0), in: plan.folder) },
        arrivals: spark?.arrivals)
      return try publication.run(fold: &folded, reconciled: reconciled, intake: intake)
    } catch {
      throw SubledgerError(error).namingLines(of: ledger)
    }
  }

  func progress(of stage: RunProgress.Stage) -> (Int, Int) -> Void {
    { [progress] in progress(RunProgress(stage: stage, done: Int64($0), total: Int64($1))) }
  }

  func checkStop() throws { try SubledgerError.check(stop) }
}
