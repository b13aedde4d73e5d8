public import Domain
internal import Formats
internal import Glibc

/// A folder next to the published one, in which a set is built before anyone sees it.
///
/// It is locked while its process runs; the next run removes what a killed process left.
public final class Staging {
  /// Where to write the reports.
  public var path: String { folder.path }
  /// The published folder, with links resolved.
  let out: String
  /// Whether the folder contains the previous published set instead of the staged one.
  var isExchanged = false
  /// Why leftovers of killed runs, or the previous set, could not be removed.
  public private(set) var leftovers: [SubledgerError]
  let folder: OpenFolder

  private init(_ folder: OpenFolder, out: String, leftovers: [SubledgerError]) {
    self.out = out
    self.folder = folder
    self.leftovers = leftovers
  }

  /// Creates an empty folder for the next set of `out`, and removes the folders that killed runs
  /// left; nothing but files of a set is ever removed from `out`.
  ///
  /// - Throws: `cannotCreate` when a link to a folder has the name of a report: its target does not
  ///   belong to the set.
  public static func begin(for out: String) throws(SubledgerError) -> Staging {
    let out = try resolved(out)
    let home = mustStageInside(out) ? out : parent(of: out)
    let prefix = home == out ? ".staging-" : ".\(lastPart(of: out)).staging-"
    try makeFolders(home)
    for report in reportPaths.map({ "\(out)/\($0)" }) {
      guard let status = try status(of: report), !status.isFolder, isFolder(report) else {
        continue
      }
      throw SubledgerError(
        .cannotCreate, "cannot publish to \(out): \(report) is a link to another folder",
        hint: "remove the link; a whole set can be published behind a link, as --out")
    }
    var leftovers: [SubledgerError] = []
    for name in try names(in: home) where name.hasPrefix(prefix) {
      do throws(SubledgerError) {
        try removeUnlessAlive("\(home)/\(name)", out)
      } catch {
        leftovers.append(error)
      }
    }
    let path = try makeFolder("\(home)/\(prefix)\(getpid())")
    let folder = try OpenFolder(path)
    guard folder.lock() else { throw .system("lock the folder", path) }
    return Staging(folder, out: out, leftovers: leftovers)
  }

  /// Removes the staged or the previous set, whose files are `ours`; keeps the reason if it fails.
  func clear(of ours: Set<String>, _ each: ForEachPath) {
    do throws(SubledgerError) {
      guard isExchanged else { return try discard() }
      let previous = try OpenFolder(path)
      try previous.closeToWriters()
      try PreviousFolder(folder: previous, out: folder, ours: ours, isLeft: false).remove(each)
    } catch {
      leftovers.append(error)
    }
  }

  /// Creates a folder with that name, or with a number after it: process ids are used again.
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

  /// Removes the folder with its contents, unless it was published.
  public func discard() throws(SubledgerError) { try folder.remove() }

  /// The path, absolute or relative, without links and trailing slashes, so that an exchange moves
  /// the folder and not a link to it.
  private static func resolved(_ out: String) throws(SubledgerError) -> String {
    var path = out.isEmpty ? "." : out
    while path.count > 1, path.hasSuffix("/") { path.removeLast() }
    guard let status = try status(of: path) else { return path }
    guard let real = realpath(path, nil) else { throw .system("find the folder", path) }
    defer { free(real) }
    let target = String(cString: real)
    guard status.isFolder || isFolder(target) else {
      throw SubledgerError(
        .cannotCreate, "cannot publish to \(path): it is not a folder",
        hint: "give a folder, or a path for a new one, as --out")
    }
    return target
  }

  /// Whether files can be renamed into the folder only from inside it: it is a volume, its parent
  /// is not writable, or this process works in it, and would be left in the previous folder.
  private static func mustStageInside(_ out: String) -> Bool {
    var inside = stat()
    var beside = stat()
    guard stat(out, &inside) == 0 else { return false }
    guard out != "/", stat(parent(of: out), &beside) == 0 else { return true }
    return inside.st_dev != beside.st_dev || access(parent(of: out), W_OK) != 0
      || isWorkedIn(out)
  }

  private static func isWorkedIn(_ out: String) -> Bool {
    guard let real = realpath(".", nil) else { return false }
    defer { free(real) }
    return "\(String(cString: real))/".hasPrefix("\(out)/")
  }

  /// Removes what a killed run left, and nothing else.
  ///
  /// Such a folder belongs to this user, only its owner may write to it, and it contains the files
  /// of a set as its checksums list them. Without checksums the set was never complete, or is
  /// already published.
  private static func removeUnlessAlive(
    _ path: String, _ out: String
  ) throws(SubledgerError) {
    guard try status(of: path)?.isFolder ?? false else { return }
    let folder = try OpenFolder(path)
    guard folder.lock() else { return }
    func refuse(_ why: String) -> SubledgerError {
      SubledgerError(
        .cannotCreate, "\(path) was left as it is: \(why)",
        hint: "look at what is in it, and move or remove it")
    }
    guard try folder.isPrivate() else {
      throw refuse("it belongs to another user, or others may write to it")
    }
    // A power cut can leave it; it must not become a file of the set.
    unlink("\(path)/\(carriedName)")
    guard let text = try readFile("\(path)/\(checksumsName)"),
      try status(of: out)?.isFolder ?? false
    else {
      guard try holdsSet(folder, beside: out) else {
        throw refuse("it holds files that are not of a set")
      }
      return try folder.remove()
    }
    let sums = Checksums(reading: text)
    for name in sums.paths {
      guard let status = try folder.status(of: RawPath(name)) else { continue }
      guard status.isFile, try seal(of: "\(path)/\(name)").sha256 == sums.hashes[name] else {
        throw refuse("\(name) in it is not as its \(checksumsName) has it")
      }
    }
    let published = Checksums(reading: try readFile("\(out)/\(checksumsName)") ?? [])
    try PreviousFolder(
      folder: folder, out: try OpenFolder(out),
      ours: Set(sums.paths + published.paths + documentPaths), isLeft: true
    ).remove()
  }

  /// Whether the folder contains only files of a set and copies of files in `out`.
  private static func holdsSet(
    _ folder: OpenFolder, beside out: String
  ) throws(SubledgerError) -> Bool {
    let ours = Set((reportPaths + documentPaths).map { RawPath($0) })
    for path in try FolderEntries(in: folder).files {
      let first = RawPath(bytes: Array(path.bytes.prefix { $0 != UInt8(ascii: "/") }))
      if ours.contains(first) { continue }
      let (here, there) = (folder.shown(path), RawPath(out).appending(path).shown)
      guard try isFile(here), try isFile(there),
        try seal(of: here).sha256 == seal(of: there).sha256
      else { return false }
    }
    return true
  }
}

extension OpenFolder {
  /// Takes the folder's lock, released with this object; false when a running process has it.
  func lock() -> Bool { flock(file.descriptor, LOCK_EX | LOCK_NB) == 0 }

  /// Makes the folder writable by its owner only, if that is this user, so that the next run may
  /// remove it if this one is killed.
  func closeToWriters() throws(SubledgerError) {
    guard let status = try status(of: RawPath("")), status.st_uid == geteuid() else { return }
    if status.st_mode & 0o022 != 0 { try setRights(status.st_mode & ~0o022) }
  }

  /// Whether it belongs to this user and only its owner may write to it.
  func isPrivate() throws(SubledgerError) -> Bool {
    guard let status = try status(of: RawPath("")) else { return false }
    return status.st_uid == geteuid() && status.st_mode & 0o022 == 0
  }
}
