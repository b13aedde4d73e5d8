import Foundation
import Ledger
import Normalise
import Reconcile
import Vocabulary

extension Night {
  /// Opens the ledger under its lock for the time of `work`; a dry run works on a copy.
  func withLedger<Value>(
    _ work: (Ledger) throws(NightError) -> Value
  ) throws(NightError) -> Value {
    let lock = isUntouched ? nil : try takeLock()
    defer { withExtendedLifetime(lock) {} }
    guard plan.isDryRun else {
      let ledger = try attempt { try Ledger.open(path: plan.ledger, mode: .readWrite) }
      let value = try work(ledger)
      try attempt { try ledger.checkpoint() }
      return value
    }
    let folder = try ClosedFolder()
    defer { withExtendedLifetime(folder) {} }
    let path = folder.path("ledger.sqlite")
    if lock != nil { try copyLedger(to: path) }
    let ledger = try attempt { try Ledger.open(path: path, mode: .readWrite) }
    return try work(ledger)
  }

  /// Copies the file and its write-ahead log, where they are; the caller holds the lock, so neither
  /// changes.
  private func copyLedger(to path: String) throws(NightError) {
    let files = FileManager.default
    do {
      let copies = zip(LedgerFiles(of: plan.ledger).content, LedgerFiles(of: path).content)
      for (file, copy) in copies where files.fileExists(atPath: file) {
        try files.copyItem(atPath: file, toPath: copy)
      }
    } catch {
      throw NightError(
        .inputOutput, "cannot copy the ledger \(plan.ledger) for a dry run: \(error)",
        hint: "make room in the temporary folder, or set TMPDIR")
    }
  }

  /// Whether nothing is written at the ledger's place: a dry run where a run could make it.
  ///
  /// Its lock would be a file that stays.
  private var isUntouched: Bool {
    let folder = URL(fileURLWithPath: plan.ledger).deletingLastPathComponent().path
    return plan.isDryRun && !mayExist(plan.ledger) && access(folder, W_OK | X_OK) == 0
  }

  /// Waits for the ledger's lock as long as the plan says, and no longer than until it is stopped.
  private func takeLock() throws(NightError) -> LedgerLock {
    var secondsLeft = plan.lockWait
    while true {
      try checkStop()
      do {
        return try LedgerLock.acquire(ledgerPath: plan.ledger, waitSeconds: min(secondsLeft, 1))
      } catch {
        guard error.kind == .locked, secondsLeft > 1 else { throw NightError(error) }
        secondsLeft -= 1
      }
    }
  }

  /// Stops a night that has nothing to say, or nothing that could be read.
  func refuseNothing(_ summary: IntakeSummary, _ ledger: Ledger) throws(NightError) {
    if summary.isBeyondSalvage {
      let reject = try attempt { try ledger.mostFrequentReject() }
      throw NightError(
        .damagedInput,
        "nothing of the new input could be understood: \(summary.text)\(reject?.text ?? "")",
        hint: reject?.hint
          ?? "check that the paths hold delivered webhooks, gzip or plain, one JSON value a line")
    }
    let isEmpty = summary.archivesRead + summary.archivesKnown == 0 && summary.snapshots == 0
    guard isEmpty, try attempt({ try ledger.archiveFiles().isEmpty }) else { return }
    throw NightError(
      .noInput, "there is nothing to read and the ledger \(plan.ledger) is empty",
      hint: "give --archives a file or folder of delivered webhooks")
  }

  /// Stops what needs a ledger where there is none: an empty set would replace a real one.
  func requireLedger(to deed: String = "report from") throws(NightError) {
    guard !mayExist(plan.ledger) else { return }
    throw NightError(
      .noInput, "cannot \(deed) the ledger \(plan.ledger.shown()): it does not exist",
      hint: "check the path given with --ledger, or read archives first with `subledger run`")
  }

  /// Refuses an as-of so far behind all that was told that it can only be a slip: reports have rows
  /// for every month up to it.
  func requireNear(_ rules: Rules) throws(NightError) {
    let years: Int64 = 100
    guard let newest = rules.watermarks.values.max(),
      rules.asOf - .seconds(years * 366 * 86_400) > newest
    else { return }
    throw NightError(
      .usage,
      "as-of \(rules.asOf.text) is more than \(years) years after the newest input, which is of "
        + newest.text,
      hint: "check the year given with --as-of; what was read is kept")
  }

  /// The rules of the plan, with what only the ledger knows: symbols of products and prices, and
  /// watermarks.
  func reconcileRules(for ledger: Ledger) throws(NightError) -> ReconcileRules {
    let watermarks = try attempt { try ledger.watermarks() }
    var rules = plan.rules
    for mark in watermarks {
      rules.watermarks[Feed(provider: mark.provider, app: mark.app)] = mark.newest
    }
    for (product, period) in plan.configuration.periods {
      if let symbol = ledger.symbol(product) { rules.periods[symbol] = period }
    }
    if let list = plan.prices { rules.prices = try attempt { try list.book(in: ledger) } }
    // Who is missing from half a file may stand in the other half.
    let isComplete = try attempt {
      try plan.configuration.snapshotsAreComplete && ledger.tornSnapshots() == nil
    }
    var reconcileRules = ReconcileRules(
      base: rules, products: plan.configuration.products,
      feeds: watermarks.map {
        FeedHistory(
          provider: $0.provider, app: ledger.symbols.words[Int($0.app)],
          firstEventAt: $0.firstEvent, watermark: $0.newest)
      },
      snapshotsComplete: isComplete)
    reconcileRules.lengths = (plan.prices?.periods(at: rules.asOf) ?? [:])
      .merging(plan.configuration.periods) { $1 }
    reconcileRules.severities = plan.configuration.severity.amounts
    reconcileRules.hasUndatedCollections = try attempt {
      try ledger.hasSkipped(undatedCollection)
    }
    for provider in Provider.allCases {
      reconcileRules.snapshotsTakenAt[provider] = try attempt {
        try ledger.newestCapture(of: provider, asOf: rules.asOf)
      }
    }
    return reconcileRules
  }
}

extension FrequentReject {
  /// Reason, count and first place, to follow on the account of all lines.
  var text: String {
    "; most were rejected as \(reason) (\(lines)), first line \(line), at byte \(byteOffset), of "
      + "\(archive.shown()): \(detail)"
  }

  /// What to do; nil where the reason says nothing of its own.
  var hint: String? {
    guard reason == unauthenticated else { return nil }
    return "check `secrets` in the configuration; what was rejected by a wrong one is read again "
      + "once it is packed anew (docs/operations.md, Lines to read anew)"
  }
}

extension Ledger {
  /// What `body` reads of the ledger at one moment.
  func reading<Value>(_ body: () throws -> Value) throws -> Value {
    var value: Value?
    try atOneMoment { value = try body() }
    guard let value else { preconditionFailure("a body that does not throw gives a value") }
    return value
  }
}
