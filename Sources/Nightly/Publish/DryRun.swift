public import Publish

import Foundation

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

/// Where a set goes: the plan's folder, or for a dry run a folder of its own that goes when this
/// goes.
final class DryRunTarget {
  let out: String
  private let folder: URL?

  init(_ plan: Plan) throws {
    guard plan.isDryRun else {
      folder = nil
      out = plan.out
      return
    }
    let folder = try makeClosedFolder()
    self.folder = folder
    out = folder.appendingPathComponent("reports").path
  }

  deinit {
    if let folder { try? FileManager.default.removeItem(at: folder) }
  }
}
