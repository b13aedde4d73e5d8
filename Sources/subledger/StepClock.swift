import Pipeline
import Synchronization

/// The current step of a run, and the duration of each.
final class StepClock: Sendable {
  private struct State {
    var step: RunProgress.Stage?
    var begin = ContinuousClock.now
    var times: [RunProgress.Stage: Duration] = [:]
  }

  private let state = Mutex(State())

  /// The current step; nil before the first and after the last.
  var step: RunProgress.Stage? { state.withLock { $0.step } }

  /// Starts `step`; time before the first step counts for it, and nil ends the last.
  func enter(_ step: RunProgress.Stage?) {
    state.withLock { state in
      guard step != state.step else { return }
      if let last = state.step {
        let now = ContinuousClock.now
        state.times[last, default: .zero] += now - state.begin
        state.begin = now
      }
      state.step = step
    }
  }

  /// The duration of each step.
  var times: [RunProgress.Stage: Duration] { state.withLock { $0.times } }
}
