import Domain
import Glibc
import Pipeline

/// The kernel's core files: the memory of a crashed process, with bodies and secrets.
enum CoreFiles {
  /// Disables core files for the rest of the process.
  ///
  /// Must be called before anything is read. A program that the system pipes core files to still
  /// receives the memory, unless it respects the limit, as those of systemd and Ubuntu do
  /// (core(5)).
  static func forbid() {
    var none = rlimit(rlim_cur: 0, rlim_max: 0)
    setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
  }
}

/// The file handles that the process can still open.
enum FileHandles {
  /// Handles that a run holds at most, without those of its jobs.
  private static let base = 32
  /// Handles of one job: an archive, or a connection with its log, files for sorting and a report.
  private static let perJob = 8

  /// Fails while the error can still be reported: Dispatch, which runs the ledger's queues, opens
  /// handles at any time and traps if it gets none.
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

  /// The number of handles that can be opened, counted up to `needed`.
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
