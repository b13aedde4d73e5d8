import Glibc
import Pipeline
import Domain

/// A progress bar on standard error, redrawn in place; without a terminal, nothing.
final class ProgressBar {
  private let isShown: Bool
  /// The step shown, and when it began.
  private var stage: (name: RunProgress.Stage, begin: ContinuousClock.Instant)?
  private var drawn = ContinuousClock.now

  init(_ mode: LogOptions.Progress) {
    isShown = mode == .always || mode == .auto && isatty(STDERR_FILENO) != 0
  }

  /// Draws the step, its share, the rate and the remaining time.
  func report(_ progress: RunProgress) {
    guard isShown else { return }
    let now = ContinuousClock.now
    let isNew = stage?.name != progress.stage
    if isNew { stage = (progress.stage, now) }
    // Drawing on a terminal can take longer than the work itself.
    guard isNew || progress.done >= progress.total || now - drawn > .milliseconds(100) else {
      return
    }
    drawn = now
    let width = 24
    let share = progress.total > 0 ? min(1000, progress.done * 1000 / progress.total) : 1000
    let filled = Int(share) * width / 1000
    let bar = String(repeating: "█", count: filled) + String(repeating: "·", count: width - filled)
    let steps = RunProgress.Stage.allCases.filter { $0 != .fetch }
    let step = steps.firstIndex(of: progress.stage).map { "\($0 + 1)/\(steps.count) " } ?? ""
    let parts =
      [step + progress.stage.rawValue]
      + amounts(progress, since: now - (stage?.begin ?? now))
    StandardStreams.draw("\(bar) \(parts.joined(separator: "  "))")
  }

  private func amounts(_ progress: RunProgress, since time: Duration) -> [String] {
    var parts: [String] = []
    let milliseconds = Int64(time / .milliseconds(1))
    switch progress.stage {
    case .archives, .snapshots:
      let isSmall = progress.total < 10_000_000
      let (unit, name): (Int64, String) = isSmall ? (1_000, "kB") : (1_000_000, "MB")
      parts.append("\(progress.done / unit)/\(progress.total / unit) \(name)")
      if milliseconds > 500 {
        parts.append("\(progress.done * 1000 / milliseconds / unit) \(name)/s")
      }
      if progress.lines > 0 { parts.append(counted(progress.lines, "line")) }
    case .fold, .reconcile, .reports, .fetch: parts.append("\(progress.done)/\(progress.total)")
    }
    if milliseconds > 500, progress.done > 0, progress.done < progress.total {
      let left = milliseconds * (progress.total - progress.done) / progress.done / 1000
      let seconds = "\(left % 60 < 10 ? "0" : "")\(left % 60)"
      if left > 0 { parts.append("\(left / 60):\(seconds) left") }
    }
    return parts
  }
}
