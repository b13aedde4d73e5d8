import Foundation
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
  func come(after seconds: UInt32) { alarm(seconds) }

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
