import Foundation
import EventStore
import Reports
import Domain

extension RunPipeline {
  /// Verifies the ledger, its archives and a published set, and writes only temporary files.
  ///
  /// Works on a consistent copy, so that it can run at the same time as a run. Changed content is a
  /// failed check, not an error.
  ///
  /// - Parameters:
  ///   - out: a published set; nil for the plan's set, if it exists.
  ///   - isStrict: whether a missing archive counts as damage.
  ///   - isReplay: whether to rebuild the ledger from the archives, and compare.
  public func verify(
    out: String?, isStrict: Bool, isReplay: Bool
  ) throws -> Verification {
    try requireLedger(to: "verify")
    let folder = try PrivateFolder()
    let copy = folder.path("ledger.sqlite")
    do throws(SubledgerError) {
      try Ledger.open(path: plan.ledger, mode: .readOnly).copy(to: copy, stop: stop)
    } catch {
      guard [.damagedInput, .configuration].contains(error.kind) else { throw error }
      return Verification(checks: [.damagedLedger(error)])
    }
    var result = Verification(checks: try proveRows(copy))
    let isWhole = result.outcome == .holds
    result.checks.append(try proveArchives(copy, isStrict: isStrict, isWhole: isWhole))
    // Damaged rows can give any numbers.
    if isWhole, isReplay { try bringEvents(to: copy) }
    if isWhole { result.checks += try proveNumbers(copy, in: folder) }
    if isWhole, isReplay { result.checks += try proveReplay(copy, in: folder) }
    result.checks.append(try proveSet(copy, out, isWhole: isWhole))
    return result
  }

  /// Returns the result of `body` for the copy at `path`; nil when damage that earlier checks have
  /// found prevents it.
  func read<Value>(
    _ path: String, isWhole: Bool, _ body: (Ledger) throws -> Value
  ) throws -> Value? {
    let result = Result { try body(try Ledger.open(path: path, mode: .readOnly)) }
    return isWhole ? try result.get() : try? result.get()
  }

  private func proveRows(_ path: String) throws -> [CheckResult] {
    let ledger: Ledger
    do {
      ledger = try Ledger.open(path: path, mode: .readOnly)
    } catch {
      return [.damagedLedger(error)]
    }
    var checks = try ledger.check(stop: stop)
    for index in checks.indices { checks[index].name = "ledger.\(checks[index].name)" }
    guard checks.allSatisfy({ $0.outcome == .holds }) else { return checks }
    var documents = CheckResult("ledger.document")
    try ledger.forEachDocument { document in
      documents.count += 1
      do throws(SubledgerError) {
        _ = try document.content()
      } catch {
        documents.fail(error.message)
      }
    }
    return checks + [documents]
  }

  /// Reproduces the last run, and compares facts, breaks and reports with it.
  private func proveNumbers(
    _ copy: String, in folder: borrowing PrivateFolder
  ) throws -> [CheckResult] {
    var identities = CheckResult("identities", unit: "identities")
    var cells = CheckResult("facts")
    var reports = CheckResult("reports", unit: "files")
    let ledger = try Ledger.open(path: copy, mode: .readWrite)
    guard let run = try ledger.lastPublished() else {
      return [identities, cells, reports].map { $0.skipped("no run has published") }
    }
    if try ledger.isOnLake() == true {
      let skipped = "the events are stored in a lake: --replay reads the archives instead"
      return [identities, cells, reports].map { $0.skipped(skipped) }
    }
    identities.count = Int64(identityNames.count)
    identities.notes = identityNames
    do {
      let earlier = try ledger.copied(to: folder.path("again.sqlite"), stop: stop)
      try earlier.rewind(to: run.id)
      let again = try publishAgain(
        run, of: ledger, from: earlier, into: folder.path("reports"))
      if try !ledger.retractions(since: run.id).isEmpty {
        cells = cells.skipped("lines were retracted after run \(run.id), the last that published")
      } else if let other = try ledger.unpublishedRun() {
        cells = cells.skipped(
          "run \(other.id) has not published, and its results are in the ledger")
      } else {
        for difference in try ledger.differences(from: earlier.path) {
          cells.count += difference.count
          for row in difference.notes { cells.fail("\(difference.name): \(row)", as: .differs) }
          cells.wrong += difference.wrong - Int64(difference.notes.count)
        }
      }
      reports.take(again, by: version)
    } catch {
      let error = SubledgerError(error)
      switch error.kind {
      case .identity, .overflow: identities.fail(error.message, as: .differs)
      // These errors do not depend on the ledger.
      case .stopped, .inputOutput, .cannotCreate, .permission, .tryAgain: throw error
      case .usage, .damagedInput, .noInput, .configuration:
        reports.fail("run \(run.id) cannot be repeated: \(error.message)", as: .differs)
      }
    }
    return [identities, cells, reports]
  }

  /// Publishes the same as `run` of `ledger` again from `copy`.
  func publishAgain(
    _ run: RunRow, of ledger: Ledger, from copy: Ledger, into folder: String,
    decisions: [Decision]? = nil
  ) throws -> ReproductionCheck {
    let history = try history(of: run.id, in: ledger)
    var reproduced = history.plan
    reproduced.isDryRun = false
    reproduced.out = folder
    if let decisions { reproduced.decisions.decisions = decisions }
    var checksums: [UInt8] = []
    _ = try following(reproduced, silently: true).publish(from: copy) { checksums = $0 }
    return try ReproductionCheck(
      history, reproduced: checksums, since: ledger.actions(since: run.id))
  }
}

extension CheckResult {
  static func damagedLedger(_ error: SubledgerError) -> Self {
    var check = Self("ledger", unit: "files")
    check.fail(error.message)
    return check
  }

  /// Counts the files of a reproduction, and those that differ.
  mutating func take(_ reproduction: ReproductionCheck, by version: String) {
    count = Int64(reproduction.files)
    let (wrong, others) = reproduction.outcome(by: version)
    for file in wrong { fail(file, as: .differs) }
    notes += others
  }
}

extension RunPipeline {
  /// Checks a published set against its checksums, and those against the run that published them.
  func proveSet(
    _ path: String, _ given: String?, isWhole: Bool
  ) throws -> CheckResult {
    var check = CheckResult("set", unit: "files")
    let out = given ?? plan.out
    guard FileManager.default.fileExists(atPath: out) else {
      guard given == nil else {
        throw SubledgerError(
          .noInput, "there is no published set \(out)", hint: "check the path given with --out")
      }
      return check.skipped("there is no published set \(out)")
    }
    var seen = try inspectSet(in: out)
    var read = try read(path, isWhole: isWhole) { try $0.publishers() }
    // A run may have published since the copy was taken, or be publishing now.
    for _ in 0..<50 {
      guard let known = read, known[seen.sha256] == nil || !seen.problems.isEmpty else { break }
      usleep(100_000)
      let before = seen
      let ledger = try Ledger.open(path: plan.ledger, mode: .readOnly)
      let isPublishing = try known[seen.sha256] == nil && ledger.unpublishedRun() != nil
      read = try ledger.publishers()
      seen = try inspectSet(in: out)
      if !isPublishing, seen == before, read == known { break }
    }
    check.count = Int64(seen.paths.count)
    for problem in seen.problems { check.fail(problem) }
    guard let publishers = read else {
      check.notes.append("checked against its own checksums only: the ledger cannot be read")
      return check
    }
    if let run = publishers[seen.sha256] {
      check.notes.append(
        run.map { "published by run \($0)" }
          ?? "published without being recorded, or by an interrupted run")
    } else {
      check.fail("SHA256SUMS is not that of any run in the ledger")
    }
    return check
  }
}
