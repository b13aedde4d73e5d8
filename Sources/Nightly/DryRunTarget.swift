import Foundation
import Logging
import Publish

/// Where a set goes: the plan's folder, or for a dry run a folder of its own that is compared with
/// it and then removed.
final class DryRunTarget {
  let out: String
  private let real: String
  private let folder: URL?

  init(_ plan: Plan) throws {
    real = plan.out
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

  /// Says which files a real run would change.
  func tell(_ publication: Publication, _ log: Logger) throws {
    let files = FileManager.default
    let differing = publication.changed.filter { name in
      !files.contentsEqual(atPath: "\(out)/\(name)", andPath: "\(real)/\(name)")
    }
    log.notice("dry run: nothing was written")
    for name in differing.sorted() { log.notice("would change \(real)/\(name)") }
    if differing.isEmpty { log.notice("would change nothing in \(real)") }
  }
}
