import Glibc

/// Processor time of a run by stage, for `--timings`.
final class StageTimes {
  /// The stages of a run, in the order in which they are printed.
  enum Stage: String, CaseIterable {
    /// Reading and inflating archives, and their hashes.
    case inflate
    /// Scanning JSON and making events of it.
    case normalise
    /// Encoding events and finding their lineages.
    case gather
    /// Sorting events and writing them to the ledger.
    case insert
    /// From the ledger to facts and breaks; snapshots included.
    case fold
    /// Facts and breaks into the ledger.
    case facts
    /// Queries and CSV.
    case report
    /// Checksums, the manifest and the exchange of folders.
    case publish
  }

  private var nanoseconds: [Stage: Int64] = [:]

  func add(_ stage: Stage, _ time: Int64) { nanoseconds[stage, default: 0] += time }

  /// Runs `work` and adds its processor time: of this thread, or of all.
  func measure<Value, Failure: Error>(
    _ stage: Stage, _ clock: Clock = .process, _ work: () throws(Failure) -> Value
  ) throws(Failure) -> Value {
    let start = Self.now(clock)
    defer { add(stage, Self.now(clock) - start) }
    return try work()
  }

  /// Whose time is meant.
  enum Clock {
    case thread
    case process
  }

  /// Processor time so far, in nanoseconds; no clock of the day.
  static func now(_ clock: Clock) -> Int64 {
    var time = timespec()
    clock_gettime(
      clock == .thread ? CLOCK_THREAD_CPUTIME_ID : CLOCK_PROCESS_CPUTIME_ID, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }

  /// Every stage in one line, in seconds.
  var text: String {
    let lines = Stage.allCases.map { stage in
      let milliseconds = (nanoseconds[stage] ?? 0) / 1_000_000
      let rest = String(milliseconds % 1000)
      let padding = String(repeating: "0", count: 3 - rest.count)
      return "\(stage.rawValue) \(milliseconds / 1000).\(padding)\(rest)"
    }
    return "processor seconds by stage: " + lines.joined(separator: ", ")
  }
}
