public import Domain
public import Logging

import EventStore
import Formats
import Foundation
import Reconciliation
import Reports

/// The whole run at a glance.
///
///     files ─ ingest ─▶ Ledger ─ fold ─▶ Folded ─ reconcile ─▶ Reconciled ─ publish ─▶ RunResult
///
/// Each stage passes values to the next, without callbacks: workers read files into batches and
/// create rows, one thread writes them; workers fold groups of events, one thread adds them up.
public struct RunPipeline {
  var plan: Plan
  let version: String
  private(set) var log: Logger
  let progress: (RunProgress) -> Void
  let stop: @Sendable () -> Int32
  /// Nil when this process does everything.
  private(set) var spark: SparkEngine?
  /// Whether all files of the previous set are compared with their checksums, however old.
  private(set) var readsPreviousSet = true

  /// Creates a run with these settings, which may be wrong: monitors are notified of that, too.
  ///
  /// - Parameters:
  ///   - now: the clock, read once by the command; the default of as-of.
  ///   - version: that of the program, for the manifest.
  ///   - stop: returns the signal that asked to stop, 0 if there is none; called by any thread.
  public init(
    _ given: GivenSettings, now: Instant, version: String, log: Logger,
    progress: @escaping (RunProgress) -> Void, stop: @escaping @Sendable () -> Int32
  ) {
    (self.version, self.log, self.progress, self.stop) = (version, log, progress, stop)
    plan = Plan(given, now: now)
    spark = plan.engine == .spark ? SparkEngine(plan, log: log, stop: stop) : nil
  }

  /// Reads new input and publishes a new report set.
  ///
  /// - Parameter clock: returns the current time, to fetch due snapshots first; nil fetches none.
  public func run(fetchingBy clock: (() -> Instant)? = nil) throws -> RunResult {
    var pipeline = self
    pipeline.readsPreviousSet = false
    pipeline.plan = try plan.withLists()
    try pipeline.readStandardInput()
    if plan.hasWorkbook { try requireWorkbooks() }
    if !mayExist(plan.ledger) { try plan.requireOwnSet(in: nil) }
    try pipeline.requireInput()
    return try withLedger { ledger in
      try plan.requireOwnSet(in: ledger)
      try pipeline.number(by: ledger)
      let intake = try pipeline.ingest(into: ledger, fetchingBy: clock)
      pipeline.warnOfLateAsOf()
      try pipeline.warnOfClosesElsewhere(in: ledger)
      try pipeline.keepDecisions(of: ledger)
      var outcome = try pipeline.publish(from: ledger, after: intake)
      outcome.dryRun?.insert(intake.text, at: 1)
      if !intake.isComplete { outcome.hasReservations = true }
      return outcome
    }
  }

  /// Reads new input into the ledger, without publishing.
  public func ingest() throws -> RunResult {
    var pipeline = self
    try pipeline.readStandardInput()
    try pipeline.requireInput()
    return try withLedger { ledger in
      try pipeline.number(by: ledger)
      let intake = try pipeline.ingest(into: ledger)
      return RunResult(
        hasReservations: !intake.isComplete,
        dryRun: plan.isDryRun ? [RunResult.dryRunNotice, intake.text] : nil)
    }
  }

  /// Publishes the report set from the current ledger.
  ///
  /// With an as-of before the newest run's, or another folder, it is not recorded: the results of
  /// other commands stay the same.
  public func report() throws -> RunResult {
    var pipeline = self
    pipeline.plan = try plan.withLists()
    if plan.hasWorkbook { try requireWorkbooks() }
    try requireLedger()
    return try withLedger { ledger in
      try plan.requireOwnSet(in: ledger)
      try requireInput(IntakeSummary(), ledger)
      pipeline.warnOfLateAsOf()
      try pipeline.number(by: ledger)
      try pipeline.keepDecisions(of: ledger)
      guard let newest = try ledger.lastPublished(), try isUnrecorded(after: newest, in: ledger)
      else { return try pipeline.publish(from: ledger) }
      log.info("not recorded: status, explain, close and pack still refer to run \(newest.id)")
      pipeline.plan.metrics = nil
      let folder = try PrivateFolder()
      let copy = try ledger.copied(to: folder.path("ledger.sqlite"), stop: stop)
      return try pipeline.publish(from: copy) {
        try ledger.announce(set: sha256(of: $0), in: nil)
      }
    }
  }

  /// Uses the decisions as `ledger` rewrote them, if the plan has the original of that file: it
  /// must not bring an erased person back.
  private mutating func keepDecisions(of ledger: Ledger) throws {
    guard let name = plan.decisions.sha256,
      let run = try ledger.lastRun(withDecisions: name),
      let kept = try ledger.documents(ofRun: run).decisions,
      kept.contentSHA256 != name
    else { return }
    log.warning(
      """
      the decisions \(plan.configuration.job.decisions?.path ?? "") name a person who was erased: \
      the run uses them without the id. Remove it from the file
      """, metadata: ["code": "decisions_rewritten"])
    plan.decisions = try DecisionsFile(
      try kept.content(), named: "the decisions that run \(run) followed")
  }

  /// Adds the run's number in the ledger to all log messages.
  private mutating func number(by ledger: Ledger) throws {
    log[metadataKey: "run"] = "\(try ledger.nextRun())"
  }

  /// Keeps the content of standard input, if an input path of the plan is `-`.
  private mutating func readStandardInput() throws {
    let count = (plan.archives + plan.snapshots).count { $0 == "-" }
    guard count > 0 else { return }
    guard count == 1 else {
      throw SubledgerError(
        .usage, "- is given twice, and standard input is one archive",
        hint: "give it once, to --archives or to --snapshots")
    }
    plan.sources.input = try StandardInput(keptIn: NSTemporaryDirectory(), stop: stop)
  }

  /// Returns a run like this one that follows `plan`, without log messages if `silently`.
  func following(_ plan: Plan, silently: Bool = false) -> RunPipeline {
    var pipeline = self
    pipeline.plan = plan
    pipeline.readsPreviousSet = true
    if silently { pipeline.log = Self.silent }
    pipeline.spark = plan.engine == .spark ? SparkEngine(plan, log: pipeline.log, stop: stop) : nil
    return pipeline
  }

  /// A log for runs that are repeated internally.
  static let silent = Logger(label: "subledger.silent") { _ in SwiftLogNoOpLogHandler() }

  /// Reads archives, fetches snapshots by `clock`, which may change as-of, and reads snapshots.
  private mutating func ingest(
    into ledger: Ledger, fetchingBy clock: (() -> Instant)? = nil
  ) throws -> IntakeSummary {
    var summary = IntakeSummary()
    ledger.stop = stop
    try requireEngine(of: ledger)
    try Intake(pipeline: self, ledger: ledger).readArchives(into: &summary)
    if let clock { summary.hasAllAnswers = try fetchDue(from: ledger, clock) }
    try Intake(pipeline: self, ledger: ledger).readSnapshots(into: &summary)
    try retractDamage(in: ledger, &summary)
    log.info(
      "\(summary.text)",
      metadata: Logger.Metadata(
        uniqueKeysWithValues: [("code", "read")] + summary.record.fields.map { ($0, "\($1.raw)") }))
    try requireInput(summary, ledger)
    try ledger.releaseMemory()
    return summary
  }

  /// Folds, reconciles and publishes the content of `ledger`; `accept` stores the checksums of the
  /// set instead of `ledger`, and throws when it must not be published.
  func publish(
    from ledger: Ledger, after intake: IntakeSummary = IntakeSummary(),
    accept: (([UInt8]) throws -> Void)? = nil
  ) throws -> RunResult {
    do {
      ledger.stop = stop
      try requireKept(plan.rules.asOf, in: ledger)
      let rules = try reconcileRules(for: ledger)
      try requireNear(rules.fold)
      try requireEngine(of: ledger)
      let spark = try ledger.isOnLake() == true ? spark : nil
      var (folded, reconciled): (Folded, Reconciled) =
        if let spark {
          try foldAndReconcile(ledger, rules, by: spark)
        } else {
          try foldAndReconcile(ledger, rules)
        }
      let basis = FactCheckpoint(
        asOf: rules.fold.asOf, rules: foldFingerprint(rules), archive: try ledger.newestArchive(),
        feeds: rules.feeds)
      let publication = PublishPass(
        pipeline: self, ledger: ledger, rules: rules.fold, basis: basis,
        accept: accept ?? { try ledger.announce(set: sha256(of: $0), in: plan.folder) },
        arrivals: spark?.arrivals)
      return try publication.run(fold: &folded, reconciled: reconciled, intake: intake)
    } catch {
      var error = SubledgerError(error)
      if error.kind == .overflow, let advice = try? ledger.adviceForOverflow() {
        error.hint = advice
      }
      throw error
    }
  }

  func progress(of stage: RunProgress.Stage) -> (Int, Int) -> Void {
    { [progress] in progress(RunProgress(stage: stage, done: Int64($0), total: Int64($1))) }
  }

  func checkStop() throws { try SubledgerError.check(stop) }
}
