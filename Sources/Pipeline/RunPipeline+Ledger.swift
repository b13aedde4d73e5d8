import Foundation
import EventStore
import Reports
import Domain

extension RunPipeline {
  /// Opens the ledger under its lock for the duration of `work`; a dry run works on a copy.
  func withLedger<Value>(
    _ work: (Ledger) throws -> Value
  ) throws -> Value {
    let lock =
      isUntouched
      ? nil
      : try LedgerLock.acquire(
        ledgerPath: plan.ledger, waitSeconds: plan.lockWait, stop: stop)
    let folder = plan.isDryRun ? try PrivateFolder() : nil
    defer { withExtendedLifetime(lock) {} }
    let path = folder?.path("ledger.sqlite") ?? plan.ledger
    if folder != nil, lock != nil { try copyLedger(to: path) }
    let ledger = try Ledger.open(path: path, mode: .readWrite)
    if folder == nil { ledger.lock = lock }
    try ledger.requireSealed()
    let value = try work(ledger)
    if folder == nil { try ledger.checkpoint() }
    return value
  }

  /// Copies the ledger to `target`, also during a run, and reports the size of the copy.
  public func backup(to target: String) throws -> String {
    try requireLedger(to: "back up")
    guard !FileManager.default.fileExists(atPath: target) else {
      throw SubledgerError(
        .cannotCreate, "cannot back up to \(target.shown()): it exists",
        hint: "a backup overwrites no file: give another name, or remove the file")
    }
    let ledger = try Ledger.open(path: plan.ledger, mode: .readOnly)
    try ledger.requireSealed()
    let size = try ledger.backup(to: target, stop: stop)
    return "\(target.shown()) holds the ledger, checked: \(size) bytes"
  }

  /// Copies the file and its write-ahead log, if they exist; under the lock, neither changes.
  private func copyLedger(to path: String) throws {
    let files = FileManager.default
    do {
      let copies = zip(LedgerFiles(of: plan.ledger).content, LedgerFiles(of: path).content)
      for (file, copy) in copies where files.fileExists(atPath: file) {
        try files.copyItem(atPath: file, toPath: copy)
      }
    } catch {
      let isForbidden = [.fileReadNoPermission, .fileWriteNoPermission]
        .contains((error as? CocoaError)?.code)
      throw SubledgerError(
        isForbidden ? .permission : .inputOutput,
        "cannot copy the ledger \(plan.ledger) for a dry run: \(error.cause)",
        hint: isForbidden
          ? "check the permissions of the ledger and of the files next to it"
          : "free space in the temporary folder, or set TMPDIR")
    }
  }

  /// Whether no ledger is created: in a dry run without a ledger.
  ///
  /// Its lock file would stay.
  private var isUntouched: Bool {
    let folder = URL(fileURLWithPath: plan.ledger).deletingLastPathComponent().path
    return plan.isDryRun && !mayExist(plan.ledger) && access(folder, W_OK | X_OK) == 0
  }

  /// Throws when the ledger is missing: an empty set would replace a real one.
  func requireLedger(to action: String = "report from") throws {
    guard !mayExist(plan.ledger) else { return }
    throw SubledgerError(
      .noInput, "cannot \(action) the ledger \(plan.ledger.shown()): it does not exist",
      hint: "check the path given with --ledger, or read archives first with `subledger run`")
  }

  /// Whether a report is as of a time before the newest run, or goes to another folder than its
  /// set.
  func isUnrecorded(after newest: RunRow, in ledger: Ledger) throws -> Bool {
    guard let set = newest.published, plan.rules.asOf >= newest.asOf else { return true }
    return try ledger.folder(ofSet: set) != plan.folder && publishedSet(in: plan.out) != set
  }

  /// Throws unless breaks and cells are those of `run`, for commands that depend on them.
  func requireStanding(_ run: RunRow, in ledger: Ledger, to action: String) throws {
    guard let other = try ledger.unpublishedRun() else { return }
    throw SubledgerError(
      .tryAgain,
      "cannot \(action): run \(other.id) has not published, and its breaks have replaced "
        + "those of run \(run.id)",
      hint: "wait for the run in progress; if there is none, one was interrupted: publish with "
        + "`subledger run` or `subledger report`")
  }
}

extension Plan {
  /// Refuses to publish over a file, or over a set of another ledger unless the plan adopts it; nil
  /// is a ledger that does not exist yet.
  func requireOwnSet(in ledger: Ledger?) throws {
    let job = configuration.job
    var isFolder: ObjCBool = false
    let isPresent = FileManager.default.fileExists(atPath: job.out, isDirectory: &isFolder)
    guard !isPresent || isFolder.boolValue else {
      throw SubledgerError(
        .cannotCreate, "cannot publish to \(job.out.shown()): it is not a folder",
        hint: "give a folder, or a path for a new one, as --out")
    }
    guard !job.adopts, let set = try publishedSet(in: job.out),
      try ledger?.hasPublished(set: set) != true
    else { return }
    throw SubledgerError(
      .cannotCreate,
      "cannot publish to \(job.out.shown()): the set there is not one of the ledger "
        + job.ledger.shown(),
      hint: "check --ledger and --out; to publish over a set of another ledger, give --adopt")
  }
}

extension Ledger {
  /// Copies the ledger to a new file, and opens the copy to change it.
  func copied(to path: String, stop: () -> Int32) throws -> Ledger {
    try copy(to: path, stop: stop)
    return try Ledger.open(path: path, mode: .readWrite)
  }

  /// Returns the result of `body` in one read transaction: it sees one state of the ledger, and
  /// thousands of lookups take half as long as with a transaction each.
  ///
  /// It may fill temporary tables. A run that ends during it leaves its write-ahead log unchanged.
  func atOneMoment<Value>(_ body: () throws -> Value) throws -> Value {
    try together("read", body)
  }

  /// Returns the result of `body`, whose changes of the ledger are one transaction.
  func together<Value>(_ doing: String, _ body: () throws -> Value) throws -> Value {
    var value: Value?
    try together(doing) { () throws -> Void in value = try body() }
    guard let value else { preconditionFailure("a body that does not throw gives a value") }
    return value
  }
}
