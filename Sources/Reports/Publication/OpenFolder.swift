// Entries below an open folder, by relative paths that need not be UTF-8. Each folder on the way is
// opened without following links, so that no call ever leaves the folder.
internal import Domain
internal import Formats
internal import Glibc

/// An open folder, closed with its last reference.
final class OpenFolder: Sendable {
  let path: String
  let file: OpenFile

  /// Opens the folder at `path`, unless `path` is a link.
  init(_ path: String) throws(SubledgerError) {
    guard let file = OpenFile(path, Self.flags) else {
      throw .system("open the folder", path, .cannotCreate)
    }
    (self.path, self.file) = (path, file)
  }

  private static let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW

  /// Opens the folder at `path` in this one, or this one if `path` is empty; nil with `errno`.
  private func folder(_ path: RawPath) -> OpenFile? {
    path.bytes.split(separator: UInt8(ascii: "/")).reduce(file) { here, part in
      here.flatMap { OpenFile(RawPath(bytes: Array(part)).terminated, Self.flags, in: $0) }
    }
  }

  /// What `call` returns for the folder that contains `path` and for the last name; -1 with `errno`
  /// when that folder is not inside this one.
  private func at(_ path: RawPath, _ call: (Int32, [CChar]) -> Int32) -> Int32 {
    let name = Array(path.bytes.reversed().prefix { $0 != UInt8(ascii: "/") }.reversed())
    guard let holder = folder(path.parent) else { return -1 }
    return withExtendedLifetime(holder) {
      call(holder.descriptor, RawPath(bytes: name).terminated)
    }
  }

  func shown(_ path: RawPath) -> String { RawPath(self.path).appending(path).shown }

  /// The system's entry for `path`, or for the folder itself; nil when it does not exist.
  func status(of path: RawPath) throws(SubledgerError) -> stat? {
    var status = stat()
    let code =
      path.bytes.isEmpty
      ? fstat(file.descriptor, &status)
      : at(path) { fstatat($0, $1, &status, AT_SYMLINK_NOFOLLOW) }
    if code == 0 { return status }
    guard errno == ENOENT || errno == ENOTDIR else { throw .system("look at", shown(path)) }
    return nil
  }

  /// The names in the folder at `path`, sorted by bytes.
  func names(in path: RawPath = RawPath("")) throws(SubledgerError) -> [RawPath] {
    guard let folder = folder(path), let names = RawPath.names(in: folder.descriptor) else {
      throw .system("read the folder", shown(path))
    }
    return names
  }

  /// Removes a file, or a folder with its contents, if it exists.
  func removeAll(_ path: RawPath) throws(SubledgerError) {
    guard let status = try status(of: path) else { return }
    guard status.isFolder else { return try removeFile(path) }
    for name in try names(in: path) { try removeAll(path.appending(name)) }
    guard removeFolder(path) || errno == ENOENT else {
      throw .system("remove the folder", shown(path))
    }
  }

  /// Removes this folder with its contents, unless it was renamed since it was opened.
  func remove() throws(SubledgerError) {
    var there = stat()
    guard lstat(path, &there) == 0, try status(of: RawPath(""))?.isSame(as: there) ?? false else {
      return
    }
    for name in try names() { try removeAll(name) }
    guard rmdir(path) == 0 || errno == ENOENT else { throw .system("remove the folder", path) }
  }

  func removeFile(_ path: RawPath) throws(SubledgerError) {
    guard at(path, { unlinkat($0, $1, 0) }) == 0 || errno == ENOENT else {
      throw .system("remove the file", shown(path))
    }
  }

  @discardableResult
  func removeFolder(_ path: RawPath) -> Bool { at(path) { unlinkat($0, $1, AT_REMOVEDIR) } == 0 }

  func makeFolder(_ path: RawPath, _ rights: mode_t) -> Bool {
    at(path) { mkdirat($0, $1, rights) } == 0
  }

  /// Links the file at `path` to the same path in another folder.
  func link(_ path: RawPath, into other: OpenFolder) -> Bool {
    at(path) { folder, name in other.at(path) { linkat(folder, name, $0, $1, 0) } } == 0
  }

  /// Moves the file at `path` to the same path in another folder.
  func move(_ path: RawPath, into other: OpenFolder) -> Bool {
    at(path) { folder, name in other.at(path) { renameat(folder, name, $0, $1) } } == 0
  }

  func setRights(_ rights: mode_t, of path: RawPath = RawPath("")) throws(SubledgerError) {
    guard let folder = folder(path), fchmod(folder.descriptor, rights & 0o7777) == 0 else {
      throw .system("set the rights of", shown(path))
    }
  }

  /// Waits until the folder at `path` is on the disk; an unreadable one is left to the system.
  func sync(_ path: RawPath = RawPath("")) throws(SubledgerError) {
    guard let folder = folder(path) else {
      if errno == EACCES { return }
      throw .system("open", shown(path))
    }
    guard folder.sync() else { throw .system("sync", shown(path)) }
  }
}

extension RawPath {
  /// The part before the last `/`; empty when there is no `/`.
  var parent: RawPath {
    RawPath(bytes: Array(bytes.prefix(upTo: bytes.lastIndex(of: UInt8(ascii: "/")) ?? 0)))
  }
}

extension stat {
  var isFile: Bool { st_mode & S_IFMT == S_IFREG }
  var isFolder: Bool { st_mode & S_IFMT == S_IFDIR }

  func isSame(as other: stat) -> Bool { st_dev == other.st_dev && st_ino == other.st_ino }

  /// Whether the file was written later than another one.
  func isNewer(than other: stat) -> Bool {
    (st_mtim.tv_sec, st_mtim.tv_nsec) > (other.st_mtim.tv_sec, other.st_mtim.tv_nsec)
  }
}
