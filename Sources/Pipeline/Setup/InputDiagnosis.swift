import Domain
import EventStore
import Formats
import Foundation
import Providers

extension Diagnosis {
  /// Checks whether archives can be read, and whether their names are in the order of time.
  mutating func addArchives(_ plan: Plan, _ stop: @escaping @Sendable () -> Int32) throws {
    for (use, kind, paths) in [
      ("archives", ArchiveKind.events, plan.archives), ("snapshots", .snapshots, plan.snapshots),
    ] where !paths.isEmpty {
      let files: [ArchiveFile]
      do throws(SubledgerError) {
        files = try plan.files(of: kind, stop: stop).files
      } catch {
        // The check of the configuration reports a missing path.
        if error.kind != .noInput { add(use, .error, error.message, error.hint) }
        continue
      }
      let closed = files.filter { !$0.isRemote && access($0.path, R_OK) != 0 }
      if let first = closed.first {
        add(
          "permissions", .error,
          "\(counted(closed.count, "file")) of \(use) cannot be read, the first is \(first.path)",
          "let the user of the job read them")
      }
      add(use, files.isEmpty ? .warning : .ok, counted(files.count, "file"))
      if let newest = files.max(by: { $0.modified < $1.modified }),
        newest.modified > plan.now + .minutes(1)
      {
        add(
          "clock", .warning, "\(newest.path) is dated \(newest.modified.text), after now",
          "set the clock of this machine, or of the one that wrote it")
      }
      addNames(of: files, use, in: plan.rules.calendar)
    }
  }

  private mutating func addNames(
    of files: [ArchiveFile], _ use: String, in calendar: CivilCalendar
  ) {
    // The folders of an archive may be its date; a snapshot has the date in its own name.
    let dates = files.map { file in
      let name = use == "archives" ? file.name.replacing("/", with: "-") : file.name
      return captureTime(fileName: name, in: calendar)
    }
    let undated = zip(files, dates).filter { $1 == nil }.map(\.0)
    if let first = undated.first {
      add(
        "names", .warning,
        "\(undated.count) of \(counted(files.count, "name")) of \(use) hold no date, such as "
          + first.name,
        use == "archives"
          ? "name them as 2026-11-20.jsonl.gz: files are taken in byte order of their names"
          : "name them as 2026-11-20.jsonl.gz, unless each line has captured_at")
    }
    let times = zip(files, dates).map { file, date in
      (file, undated.isEmpty ? date ?? file.modified : file.modified)
    }
    let turned = zip(times, times.dropFirst()).filter { $0.1 > $1.1 }
    guard let (previous, latter) = turned.first else {
      return add("names", .ok, "\(use) sort by time")
    }
    add(
      "names", .warning,
      "\(use) do not sort by time: \(previous.0.name) comes before \(latter.0.name)",
      "write dates as 2026-01-09, with year, month and day of equal length")
  }

  mutating func addLedger(_ plan: Plan, _ stop: @escaping @Sendable () -> Int32) throws {
    guard mayExist(plan.ledger) else {
      add("ledger", .ok, "\(plan.ledger) does not exist yet: the first run makes it")
      return addSet(plan, nil)
    }
    var status = stat()
    if stat(plan.ledger, &status) == 0, status.st_mode & 0o007 != 0 {
      add(
        "permissions", .warning,
        "other users can read the ledger \(plan.ledger), which holds user ids",
        "run chmod o-rwx on it; the next run does so, too")
    }
    let ledger = try Ledger.open(path: plan.ledger, mode: .readOnly)
    ledger.stop = stop
    try ledger.requireSealed()
    addSet(plan, ledger)
    try ledger.atOneMoment {
      add("ledger", .ok, "\(plan.ledger) can be read; `subledger verify` checks every row")
      try addRuns(of: ledger, plan)
      let unmapped = try unmappedProducts(of: ledger, plan)
      if let first = unmapped.first {
        add(
          "products", .warning,
          "\(counted(unmapped.count, "product")) of snapshots in no event, the first is \(first)",
          "add it to `products` with its store product id")
      }
    }
  }

  /// Checks whether a run may publish to the folder.
  private mutating func addSet(_ plan: Plan, _ ledger: Ledger?) {
    do {
      try plan.requireOwnSet(in: ledger)
    } catch {
      let error = SubledgerError(error)
      add("reports", .error, error.message, error.hint)
    }
  }

  private mutating func addRuns(of ledger: Ledger, _ plan: Plan) throws {
    if let broken = try ledger.unpublishedRun() {
      add(
        "runs", .warning, "run \(broken.id) has not published: it is running, or was interrupted",
        "publish with `subledger run` or `subledger report`")
    }
    let health = try plan.health(of: ledger, ageMax: "26h")
    if health.isGood { add("runs", .ok, health.newest) }
    for problem in health.problems {
      add("runs", .warning, problem, "see `subledger status` and docs/operations.md")
    }
    guard let last = try ledger.lastPublished() else { return }
    guard last.asOf > plan.now else { return add("clock", .ok, plan.now.text) }
    add(
      "clock", .warning, "the clock says \(plan.now.text), before the last run's as-of",
      "set the clock, unless the run was given a later --as-of")
  }

  /// Returns products that only snapshots contain, and that `products` does not map.
  private func unmappedProducts(of ledger: Ledger, _ plan: Plan) throws -> [String] {
    var known = Set(plan.products.keys)
    for table in ["revenue_cell", "movement_cell", "trial_cell"] {
      try ledger.rows(
        sql: "select distinct value from \(table) join string on string.id = \(table).product"
      ) { known.insert($0.text(0)) }
    }
    var unmapped: Set<String> = []
    try ledger.forEachUser(withSnapshotAsOf: plan.rules.asOf) { user in
      for entitlement in user.snapshots.flatMap(\.entitlements)
      where !entitlement.product.isEmpty && !known.contains(entitlement.product) {
        unmapped.insert(entitlement.product)
      }
    }
    return unmapped.sorted()
  }
}

/// Reads the first lines of some archives under `paths`, evenly distributed over all, and returns
/// who sends events, one feed per line.
func inputNotes(of paths: [String], stop: @escaping @Sendable () -> Int32) throws -> [String] {
  let (filesMax, linesMax) = (100, 1_000)
  /// Thrown to stop the reading of a file.
  struct Enough: Error {}
  let files = try ArchiveFolder.files(under: paths, stop: stop).files
  guard !files.isEmpty else { return ["No archives were looked at."] }
  var events: [[String]: Int] = [:]
  var read = 0
  let step = (files.count + filesMax - 1) / filesMax
  // The newest file is always among them.
  for place in stride(from: (files.count - 1) % step, to: files.count, by: step) {
    var normaliser = Normaliser(rules: NormaliserSettings())
    var batch = EventBatch()
    do {
      _ = try readArchive(files[place]) { chunk in
        if case .again = chunk { batch = EventBatch() }
        normaliser.add(chunk, to: &batch)
        if batch.lines >= linesMax { throw Enough() }
      }
      read += 1
    } catch is Enough {
      read += 1
    } catch let error
      where error is ForeignFile || (error as? SubledgerError)?.isOfOneFile == true
    {
      // The file is not counted as read.
    }
    for event in batch.events {
      events[[event.provider.name, batch.symbols.words[Int(event.app)]], default: 0] += 1
    }
  }
  let feeds = events.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map { feed, count in
    let app = feed[1].isEmpty ? "unknown" : feed[1].shown()
    return "- \(feed[0]), app \(app): \(counted(count, "event"))"
  }
  return ["In the first lines of \(read) of \(counted(files.count, "file")):"] + feeds
}
