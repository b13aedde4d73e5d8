internal import GRDB
internal import Vocabulary

/// The lines of one archive that could not be understood: all are counted by reason, and the first
/// of each reason are listed with their place.
///
/// Three kilobytes of a packed archive can hold a million such lines.
struct RejectAccount {
  /// Lines of one reason that an archive lists.
  static let listedMax: Int64 = 1000

  /// By reason, since the archive began.
  private var lines: [String: Int64] = [:]
  /// By reason, not yet written.
  private var unwritten: [String: Int64] = [:]
  private var listed: [Reject] = []

  /// Memory held, about.
  var size: Int { listed.count * 200 }

  /// Counts `rejects`, which come in the order of their places.
  mutating func add(_ rejects: [Reject]) {
    for reject in rejects {
      let before = lines[reject.reason, default: 0]
      lines[reject.reason] = before + 1
      unwritten[reject.reason, default: 0] += 1
      if before < Self.listedMax { listed.append(reject) }
    }
  }

  /// Writes what was counted since it was last written.
  mutating func write(of archive: Int32, to database: Database) throws {
    let rows = ArchiveRows(database)
    try rows.insert(rejected: unwritten, of: archive)
    try rows.insert(listed, of: archive)
    unwritten = [:]
    listed = []
  }
}
