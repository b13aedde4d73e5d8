import Domain
import Glibc
import Pipeline

/// What the kernel writes of a process that dies: its memory, with the bodies and secrets in it.
enum CoreFiles {
  /// Has the kernel write none, and lets nothing take that back.
  ///
  /// To be called before anything is read. A program that the system hands core files to may see
  /// the memory all the same, unless it heeds the limit, as those of systemd and Ubuntu do
  /// (core(5)).
  static func forbid() {
    var none = rlimit(rlim_cur: 0, rlim_max: 0)
    setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
  }
}

/// The file handles that the process may still open.
enum FileHandles {
  /// What a run holds open at one time at most, but for what its jobs hold.
  private static let base = 32
  /// What a job holds: an archive, or a connection with its log, files for sorting and a report.
  private static let perJob = 8

  /// Ends the run while it can still report the error: Dispatch, which runs the ledger's queues,
  /// opens handles at any time and traps without one.
  static func require(jobs: Int) throws(SubledgerError) {
    raiseLimit()
    let needed = base + perJob * min(jobs, 1 << 16)
    let free = free(upTo: needed)
    guard free < needed else { return }
    throw SubledgerError(
      .inputOutput,
      "cannot begin with \(free) free file handles: up to \(needed) may be needed",
      hint: "raise the limit (`ulimit -n`), or give fewer --jobs")
  }

  /// Raises the soft limit to the hard limit.
  private static func raiseLimit() {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
    guard limit.rlim_cur < limit.rlim_max else { return }
    limit.rlim_cur = limit.rlim_max
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
  }

  /// How many handles can be had, as far as `needed`.
  private static func free(upTo needed: Int) -> Int {
    var handles: [Int32] = []
    defer { for handle in handles { close(handle) } }
    while handles.count < needed {
      let handle = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0)
      guard handle >= 0 else { break }
      handles.append(handle)
    }
    return handles.count
  }
}
