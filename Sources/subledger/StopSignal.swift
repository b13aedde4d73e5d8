import Foundation
import Synchronization

/// The last signal that asked to stop; 0 while none did.
///
/// A signal handler can reach globals only.
private let received = Atomic<Int32>(0)

/// Remembers that SIGINT or SIGTERM came, so that the run stops at its next safe point.
struct StopSignal {
  /// The signal that asked to stop; 0 while none did.
  func read() -> Int32 { received.load(ordering: .relaxed) }

  /// Has SIGALRM come after so many seconds.
  func come(after seconds: UInt32) { alarm(seconds) }

  /// Starts to listen, for the rest of the process; a store is all that a handler may do.
  ///
  /// Whoever started the process may have left the signals blocked for it.
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
