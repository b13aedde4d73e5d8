import Foundation
import Glibc
import Synchronization

/// The last signal that asked to stop, or 0.
///
/// A global, because a signal handler cannot reach anything else.
private let received = Atomic<Int32>(0)

/// Records SIGINT, SIGTERM or SIGALRM, so that the run stops at its next safe point.
struct StopSignal {
  /// The signal that asked to stop, or 0.
  func read() -> Int32 { received.load(ordering: .relaxed) }

  /// Schedules SIGALRM after `seconds`.
  func raiseAlarm(after seconds: UInt32) { alarm(seconds) }

  /// Starts to listen for the rest of the process; the handlers only store the signal.
  ///
  /// The parent process may have left these signals blocked.
  func listen() {
    var wanted = sigset_t()
    sigemptyset(&wanted)
    for number in [SIGINT, SIGTERM, SIGALRM] {
      signal(number) { received.store($0, ordering: .relaxed) }
      sigaddset(&wanted, number)
    }
    pthread_sigmask(SIG_UNBLOCK, &wanted, nil)
  }
}

/// The limits of the process, which must be set before anything is read.
enum ProcessLimits {
  /// Raises the number of open files to the hard limit, and forbids core files: the memory of a
  /// crashed process, with bodies and secrets.
  ///
  /// A program that the system pipes core files to still receives the memory, unless it respects
  /// the limit, as those of systemd and Ubuntu do (core(5)).
  static func set() {
    var none = rlimit(rlim_cur: 0, rlim_max: 0)
    setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
    var files = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &files) == 0 else { return }
    files.rlim_cur = files.rlim_max
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &files)
  }
}
