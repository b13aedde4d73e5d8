import Domain
import EventStore

/// The result of a run.
public struct RunResult: Sendable, Equatable {
  /// Whether the set has breaks at or above the gate, is qualified, or has stale input, or too many
  /// lines of this run were rejected.
  public var hasReservations = false
  /// For a person, line by line, what a real run would have done; nil for a real run.
  public var dryRun: [String]?
  /// The published set, and its input; nil when nothing was published.
  public var summary: RunSummary?
  /// Metrics for a monitor; nil when none are written, or nothing was published.
  var metrics: RunMetrics?

  /// Whether there are metrics for a monitor.
  public var hasMetrics: Bool { metrics != nil }

  /// The first line of every answer of a dry run.
  static let dryRunNotice = "dry run: the ledger is unchanged"
  /// Success without reservations.
  public static let done = RunResult()
  /// Success with reservations: the result needs attention.
  public static let reservations = RunResult(hasReservations: true)
}

/// The progress of a run.
public struct RunProgress: Sendable {
  /// A step of a run.
  public enum Stage: String, CaseIterable, Sendable {
    case archives = "reading archives"
    case snapshots = "reading snapshots"
    case fold = "folding subscriptions"
    case reconcile = "reconciling users"
    case reports = "writing reports"
    /// Not a step of its own in a run.
    case fetch = "fetching snapshots"
  }

  /// The current step.
  public var stage: Stage
  /// Finished amount: bytes of archives and snapshots, users fetched, parts of other steps.
  public var done: Int64
  /// Total amount of the step, in the same unit.
  public var total: Int64
  /// Number of JSON values read from archives so far.
  public var lines: Int64 = 0
}

struct IntakeSummary: Sendable {
  var archivesRead = 0
  var archivesKnown = 0
  var archivesDamaged = 0
  /// Of these, those that continue no known archive, whose whole lines would count.
  var newArchivesDamaged = 0
  /// Number of files younger than the minimum age.
  var filesLeftAlone = 0
  /// Number of JSON values that were read, including those of files that turned out to be known.
  var lines: Int64 = 0
  /// Counts of the lines of archives that were read.
  var counts = ArchiveCounts()
  var snapshots: Int64 = 0
  var snapshotsRejected: Int64 = 0
  var snapshotFilesKnown = 0
  /// Number of files that are ignored because their capture time is unknown.
  var snapshotFilesRefused = 0
  var unreadable: [SubledgerError] = []
  /// Whether every provider that was to be asked answered about every user.
  var hasAllAnswers = true

  var isComplete: Bool { unreadable.isEmpty && hasAllAnswers }

  mutating func add(_ archives: [ArchiveCounts]) {
    archivesRead += archives.count
    for archive in archives { counts.add(archive) }
  }

  /// Whether there was input, but not one line of it could be understood.
  ///
  /// A refused file is new in every run: it does not stop a run with input that was read before.
  var isUnreadable: Bool {
    let understood = counts.accepted + counts.duplicates + counts.skipped + snapshots
    let isRefused = snapshotFilesRefused > 0 && archivesKnown + snapshotFilesKnown == 0
    let isUnread = counts.rejected + snapshotsRejected > 0 || newArchivesDamaged > 0 || isRefused
    return understood == 0 && isUnread
  }

  var text: String {
    let archives = "\(counted(archivesRead, "archive")) read"
    let lines = "\(counted(counts.lines, "line")): \(counts.accepted) accepted"
    var parts = [
      "\(archives), \(archivesKnown) known, \(archivesDamaged) damaged",
      "\(lines), \(counted(counts.duplicates, "duplicate")), \(counts.skipped) skipped, "
        + "\(counts.rejected) rejected",
      "\(counted(snapshots, "snapshot")), \(snapshotsRejected) rejected",
    ]
    if snapshotFilesRefused > 0 {
      parts.append("\(counted(snapshotFilesRefused, "file")) of snapshots refused")
    }
    if !unreadable.isEmpty { parts.append("\(counted(unreadable.count, "file")) unreadable") }
    if filesLeftAlone > 0 {
      parts.append("\(counted(filesLeftAlone, "file")) left alone as too young")
    }
    return parts.joined(separator: "; ")
  }
}
