/// How a night ended when it did.
public enum NightOutcome: Sendable, Equatable {
  /// Done; nothing that the caller asked to be told about.
  case done
  /// Done and published, but breaks at or above the gate, a qualified set, or stale input.
  case findings
}

/// How far a night has come.
public struct NightProgress: Sendable {
  /// What is being done.
  public var stage: String
  /// Bytes of input read.
  public var done: Int64
  /// Bytes of input there are.
  public var total: Int64
  /// JSON values read so far.
  public var lines: Int64
  /// Whether nothing follows.
  public var isLast: Bool
}

/// What the intake of one night came to.
struct IntakeSummary: Sendable {
  var archivesRead = 0
  var archivesKnown = 0
  var archivesDamaged = 0
  var lines: Int64 = 0
  var accepted: Int64 = 0
  var duplicates: Int64 = 0
  var skipped: Int64 = 0
  var rejected: Int64 = 0
  var roundedAmounts: Int64 = 0
  var missingIsProceed: Int64 = 0
  var snapshots: Int64 = 0
  var snapshotsRejected: Int64 = 0

  /// Whether there was input and not one line of it could be understood.
  var isBeyondSalvage: Bool {
    let understood = accepted + duplicates + skipped + snapshots
    return understood == 0 && (rejected + snapshotsRejected > 0 || archivesDamaged > 0)
  }

  /// One line for the log.
  var text: String {
    "\(archivesRead) archives read, \(archivesKnown) known, \(archivesDamaged) damaged; "
      + "\(lines) lines: \(accepted) accepted, \(duplicates) duplicates, \(skipped) skipped, "
      + "\(rejected) rejected; \(snapshots) snapshots, \(snapshotsRejected) rejected"
  }
}
