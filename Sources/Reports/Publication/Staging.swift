public import Domain
internal import Glibc

/// A folder beside the published one, in which a set is made before anybody sees it.
///
/// It is locked while its process runs; the next run removes what an ended process left.
public final class Staging {
  /// Where the reports are to be written.
  public let path: String
  /// The published folder, links followed.
  let out: String
  /// The files and folders that a set has beside its documents.
  let reports: [String]
  /// Whether the folder holds the earlier published set instead of the staged one.
  var isExchanged = false
  /// Why something beside the set could not be removed: what dead runs left, or the set before.
  public private(set) var leftovers: [SubledgerError]
  private let lock: Int32

  private init(
    path: String, out: String, reports: [String], lock: Int32, leftovers: [SubledgerError]
  ) {
    self.path = path
    self.out = out
    self.reports = reports
    self.lock = lock
    self.leftovers = leftovers
  }

  deinit { close(lock) }

  /// Makes an empty folder for the next set of `out`, and removes the folders of runs that ended
  /// early.
  ///
  /// `reports` are the files and folders that a set has beside its documents; nothing else is ever
  /// removed from `out`.
  public static func begin(
    for out: String, reports: [String]
  ) throws(SubledgerError) -> Staging {
    let out = try resolved(out)
    let home = mustStageInside(out) ? out : parent(of: out)
    let prefix = home == out ? ".staging-" : ".\(lastPart(of: out)).staging-"
    try makeFolders(home)
    var leftovers: [SubledgerError] = []
    for name in try names(in: home) where name.hasPrefix(prefix) {
      do throws(SubledgerError) {
        try removeUnlessAlive("\(home)/\(name)", out)
      } catch {
        leftovers.append(error)
      }
    }
    let path = try makeFolder("\(home)/\(prefix)\(getpid())")
    guard let lock = locked(path) else { throw .system("lock the folder", path) }
    return Staging(path: path, out: out, reports: reports, lock: lock, leftovers: leftovers)
  }

  /// Cleans up after the publication, and keeps the reason of a failure.
  func clear(_ removal: () throws(SubledgerError) -> Void) {
    do throws(SubledgerError) { try removal() } catch { leftovers.append(error) }
  }

  /// Makes a folder of that name, or of one with a number behind it where it is taken: processes
  /// have the numbers of dead ones again.
  private static func makeFolder(_ name: String) throws(SubledgerError) -> String {
    var path = name
    var number = 1
    while mkdir(path, 0o755) != 0 {
      guard errno == EEXIST else { throw .system("make the folder", path, .cannotCreate) }
      number += 1
      path = "\(name)-\(number)"
    }
    return path
  }

  /// Removes the folder with all that was written to it, unless it was published once.
  public func discard() throws(SubledgerError) { if !isExchanged { try removeAll(path) } }

  /// The absolute-or-relative path without links and slashes at its end, so that an exchange
  /// takes the folder itself and not a link to it.
  private static func resolved(_ out: String) throws(SubledgerError) -> String {
    var path = out.isEmpty ? "." : out
    while path.count > 1, path.hasSuffix("/") { path.removeLast() }
    guard let type = try entryType(path) else { return path }
    guard let real = realpath(path, nil) else { throw .system("find the folder", path) }
    defer { free(real) }
    let target = String(cString: real)
    guard type == .folder || isFolder(target) else {
      throw SubledgerError(
        .cannotCreate, "cannot publish to \(path): it is not a folder",
        hint: "give a folder, or a path for a new one, as --out")
    }
    return target
  }

  /// Whether files can be renamed into the folder only from inside it: it is a volume of its own,
  /// or nothing may be made beside it.
  private static func mustStageInside(_ out: String) -> Bool {
    var inside = stat()
    var beside = stat()
    guard stat(out, &inside) == 0 else { return false }
    guard out != "/", stat(parent(of: out), &beside) == 0 else { return true }
    return inside.st_dev != beside.st_dev || access(parent(of: out), W_OK) != 0
  }

  /// Without checksums the set was never whole, and nothing in the folder is of others.
  private static func removeUnlessAlive(_ path: String, _ out: String) throws(SubledgerError) {
    guard try entryType(path) == .folder, let lock = locked(path) else { return }
    defer { close(lock) }
    guard let sums = try readFile("\(path)/\(checksumsName)"), try entryType(out) == .folder else {
      return try removeAll(path)
    }
    let published = Checksums(reading: try readFile("\(out)/\(checksumsName)") ?? [])
    let ours = Checksums(reading: sums).paths + published.paths + documentPaths
    try FormerFolder(path: path, out: out, ours: Set(ours), isLeft: true).remove()
  }

  /// A descriptor that holds the folder's lock; nil when a living process has it.
  private static func locked(_ path: String) -> Int32? {
    let folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard folder >= 0 else { return nil }
    if flock(folder, LOCK_EX | LOCK_NB) == 0 { return folder }
    close(folder)
    return nil
  }
}
