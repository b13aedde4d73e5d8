import Glibc
import Pipeline

/// A bar on standard error, redrawn in place; nothing without a terminal.
struct ProgressBar {
  private let isShown: Bool

  init(_ mode: LogOptions.Progress) {
    switch mode {
    case .always: isShown = true
    case .never: isShown = false
    case .auto: isShown = isatty(STDERR_FILENO) != 0
    }
  }

  /// Draws the progress of the run; ends the line when it is through.
  func report(_ progress: RunProgress) {
    guard isShown else { return }
    let width = 24
    let share = progress.total > 0 ? min(1000, progress.done * 1000 / progress.total) : 1000
    let filled = Int(share) * width / 1000
    let bar = String(repeating: "█", count: filled) + String(repeating: "·", count: width - filled)
    let megabytes = "\(progress.done / 1_048_576)/\(progress.total / 1_048_576) MB"
    let end = progress.isLast ? "\n" : ""
    let line = "\r\u{1B}[K\(bar) \(progress.stage)  \(megabytes)  \(progress.lines) lines\(end)"
    StandardStreams.mention(line)
  }
}
