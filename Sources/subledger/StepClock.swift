import Pipeline
import Synchronization

/// The step that a run is in, and how long each took.
final class StepClock: Sendable {
  private struct State {
    var step: RunProgress.Stage?
    var begin = ContinuousClock.now
    var times: [RunProgress.Stage: Duration] = [:]
  }

  private let state = Mutex(State())

  /// The current step; nil before the first, and after the last.
  var step: RunProgress.Stage? { state.withLock { $0.step } }

  /// Begins `step`; what was before the first one is part of it, and nil ends the last.
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

  /// How long each step took.
  var times: [RunProgress.Stage: Duration] { state.withLock { $0.times } }
}
