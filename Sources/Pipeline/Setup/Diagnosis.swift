public import Domain
import Foundation

/// Problems, and possible problems, of the nightly job.
public struct Diagnosis {
  enum State { case ok, warning, error }

  /// One line per finding, followed by what to do.
  public var text: String { lines.joined(separator: "\n") }
  private var lines: [String] = []
  /// Whether there is an error with which the job cannot work.
  public private(set) var hasErrors = false

  /// Checks the settings and everything that they name; only reads.
  public init(
    _ given: GivenSettings, now: Instant, stop: @escaping @Sendable () -> Int32
  ) throws {
    let problems = given.problems(now: now)
    if problems.isEmpty { add("configuration", .ok, given.summary) }
    for problem in problems { add("configuration", .error, problem.message, problem.hint) }
    let plan = Plan(given, now: now)
    if let warning = plan.secretsWarning {
      add("secrets", .warning, warning, chownHint)
    }
    addZones()
    try addArchives(plan, stop)
    try SubledgerError.check(stop)
    do {
      try addLedger(plan, stop)
    } catch {
      let error = SubledgerError(error)
      add("ledger", .error, error.message, error.hint)
    }
    addPlaces(plan)
  }

  mutating func add(_ check: String, _ state: State, _ what: String, _ remedy: String = "") {
    hasErrors = hasErrors || state == .error
    lines.append("\(padded("\(state)", to: 8)) \(padded(check, to: 14))" + what.shown())
    if !remedy.isEmpty { lines.append("\(padded("", to: 23))→ \(remedy.shown())") }
  }

  private mutating func addZones() {
    guard CivilCalendar(named: "Europe/Berlin") == nil else {
      return add("time zones", .ok, "the system's tables are there")
    }
    add("time zones", .warning, "the system has no tables: only UTC is known", "install tzdata")
  }

  /// Checks whether everything that the job writes can be written, and the free space.
  private mutating func addPlaces(_ plan: Plan) {
    let bytes = plan.ledgerBytes
    let reserve = Int64(256) << 20
    let temporary = FileManager.default.temporaryDirectory.path
    // Only the folders above the reports are made.
    func folder(_ path: String) -> String {
      URL(fileURLWithPath: path).deletingLastPathComponent().path
    }
    addPlace("ledger", folder(plan.ledger), needs: bytes / 2 + reserve)
    addPlace("reports", Self.folder(of: plan.out), needs: reserve)
    addPlace("temporary", temporary, needs: bytes + reserve)
    // These two files are small.
    let files = [("metrics", plan.metrics?.path), ("summary", plan.summary?.path)]
    for case (let use, let path?) in files where path != "-" {
      addPlace(use, folder(path), needs: 0)
    }
  }

  private mutating func addPlace(_ use: String, _ folder: String, needs bytes: Int64) {
    guard access(folder, W_OK | X_OK) == 0 else {
      let cause = String(cString: strerror(errno))
      return add(
        "permissions", .error, "the folder \(folder) (\(use)) cannot be written: \(cause)",
        "make it, and give it to the user of the job")
    }
    var disk = statvfs()
    guard statvfs(folder, &disk) == 0 else {
      return add("disk", .warning, "the free space of \(folder) (\(use)) is not known")
    }
    let free = Int64(clamping: UInt64(disk.f_bavail) &* UInt64(disk.f_frsize))
    let room = "\(folder) (\(use)): \(free >> 20) MiB free"
    if free < bytes {
      add("disk", .warning, "\(room), fewer than \(bytes >> 20)", "free space, or move it")
    } else {
      add("disk", .ok, room)
    }
  }

  /// Returns the nearest existing folder above `path`.
  private static func folder(of path: String) -> String {
    var folder = URL(fileURLWithPath: path).deletingLastPathComponent()
    while !mayExist(folder.path), folder.path != "/" { folder.deleteLastPathComponent() }
    return folder.path
  }
}
