public import Reports

import Domain
import EventStore

/// How a run ended.
public struct RunResult: Sendable, Equatable {
  /// Whether the set has breaks at or above the gate, is qualified, or has stale input, or too many
  /// lines of this run were rejected.
  public var hasReservations = false
  /// The result of a dry run; nil for a real run.
  public var dryRun: DryRun?
  /// What was published, and from which input; nil when nothing was.
  public var summary: RunSummary?
  /// What a monitor is shown of it; nil when none is, or nothing was published.
  var metrics: RunMetrics?

  /// Whether a monitor is shown what was published.
  public var hasMetrics: Bool { metrics != nil }

  /// Done, without reservations.
  public static let done = RunResult()
  /// Done, and somebody should look at it.
  public static let reservations = RunResult(hasReservations: true)
}

/// How far a run has come.
public struct RunProgress: Sendable {
  /// A step of a run.
  public enum Stage: String, CaseIterable, Sendable {
    case archives = "reading archives"
    case snapshots = "reading snapshots"
    case fold = "folding subscriptions"
    case reconcile = "reconciling users"
    case reports = "writing reports"
    /// Not a step of a run itself.
    case fetch = "fetching snapshots"
  }

  /// The current step.
  public var stage: Stage
  /// What is done of it: bytes of archives and snapshots, users fetched, parts of other steps.
  public var done: Int64
  /// The same of the whole step.
  public var total: Int64
  /// JSON values of archives read so far.
  public var lines: Int64 = 0
}

/// Counts of what one run read.
struct IntakeSummary: Sendable {
  var archivesRead = 0
  var archivesKnown = 0
  var archivesDamaged = 0
  /// Files younger than the least age.
  var filesLeftAlone = 0
  /// JSON values that were read, including files that turned out to be known.
  var lines: Int64 = 0
  /// What became of the lines of archives that were read.
  var counts = ArchiveCounts()
  var snapshots: Int64 = 0
  var snapshotsRejected: Int64 = 0
  var snapshotFilesKnown = 0
  /// Files that are ignored because their capture time is unknown.
  var snapshotFilesRefused = 0
  /// Why files could not be read.
  var unreadable: [SubledgerError] = []

  mutating func add(_ archives: [ArchiveCounts]) {
    archivesRead += archives.count
    for archive in archives { counts.add(archive) }
  }

  /// Whether there was input and not one line of it could be understood.
  ///
  /// A refused file is new in every run: beside input that was read before it stops none.
  var isBeyondSalvage: Bool {
    let understood = counts.accepted + counts.duplicates + counts.skipped + snapshots
    let isRefused = snapshotFilesRefused > 0 && archivesKnown + snapshotFilesKnown == 0
    let isUnread = counts.rejected + snapshotsRejected > 0 || archivesDamaged > 0 || isRefused
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

/// What a dry run came to: what a real one would have done.
public struct DryRun: Sendable, Equatable {
  /// What was read, in words; empty when nothing was to be read.
  public var intake = ""
  /// What would become of the published set; nil when none was asked for.
  public var changes: SetChanges?
  /// The folder of the published set.
  public var out = ""

  /// For a person, a line for each file.
  public var text: String {
    var lines = [Self.notice]
    if !intake.isEmpty { lines.append(intake) }
    if let changes {
      lines += changes.added.map { "would add \(out)/\($0)" }
      lines += changes.changed.map { "would change \(out)/\($0)" }
      lines += changes.removed.map { "would remove \(out)/\($0)" }
      if changes.isEmpty { lines.append("would change nothing in \(out)") }
    }
    return lines.joined(separator: "\n")
  }

  /// What every answer of a dry run begins with.
  static let notice = "a dry run: the ledger is as it was"
}

extension SetChanges {
  /// Whether the set would stay as it is.
  var isEmpty: Bool { added.isEmpty && changed.isEmpty && removed.isEmpty }
}
