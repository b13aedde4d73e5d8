import Domain
import Logging
import Pipeline
import Synchronization

/// Writes log lines to standard error, as text for people or as JSON for machines.
///
/// Messages can contain foreign names, so invisible characters are escaped.
struct StandardErrorLog: LogHandler {
  var metadata: Logger.Metadata = [:]
  var logLevel: Logger.Level
  let format: LogOptions.Format
  let clock: StepClock

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    let message = "\(event.message)".shown(isWrapped: true)
    let line =
      switch format {
      case .text: "subledger: \(event.level == .error ? "" : "\(event.level): ")\(message)"
      case .json: json(event, message)
      }
    StandardStreams.mention(line + "\n")
  }

  /// The message with time, level, run, step and metadata; an error's `code` is the exit code.
  private func json(_ event: LogEvent, _ message: String) -> String {
    var fields = metadata.merging(event.metadata ?? [:]) { $1 }
      .mapValues { $0.description.shown(isWrapped: true) }
    fields["stage"] = clock.step.map { "\($0)" }
    fields.merge(["time": Instant.now.text, "level": event.level.rawValue, "message": message]) {
      $1
    }
    let line = JSONValue.object(fields.mapValues(JSONValue.string)).line
    return String(decoding: line, as: UTF8.self)
  }
}

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
