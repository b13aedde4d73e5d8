// The calls on paths that others name, which need not be UTF-8.
internal import Domain
internal import Formats
internal import Glibc

extension RawPath {
  /// The part before the last `/`; empty when there is none.
  var parent: RawPath {
    RawPath(bytes: Array(bytes.prefix(upTo: bytes.lastIndex(of: UInt8(ascii: "/")) ?? 0)))
  }
}

/// The system's entry for `path`, links not followed; nil when nothing is there.
func status(of path: RawPath) throws(SubledgerError) -> stat? {
  var status = stat()
  guard lstat(path.terminated, &status) == 0 else {
    guard errno == ENOENT || errno == ENOTDIR else { throw .system("look at", path.shown) }
    return nil
  }
  return status
}

extension stat {
  var isFolder: Bool { st_mode & S_IFMT == S_IFDIR }

  /// Whether both are of one file.
  func isSame(as other: stat) -> Bool { st_dev == other.st_dev && st_ino == other.st_ino }

  /// Whether the file was written later than another one.
  func isNewer(than other: stat) -> Bool {
    (st_mtim.tv_sec, st_mtim.tv_nsec) > (other.st_mtim.tv_sec, other.st_mtim.tv_nsec)
  }
}

/// The names in a folder, sorted by bytes.
func names(in folder: RawPath) throws(SubledgerError) -> [RawPath] {
  guard let names = folder.names() else { throw .system("read the folder", folder.shown) }
  return names
}

/// Removes a file, or a folder with all it holds; nothing there is fine.
func removeAll(_ path: RawPath) throws(SubledgerError) {
  guard let status = try status(of: path) else { return }
  guard status.isFolder else { return try removeFile(path) }
  for name in try names(in: path) { try removeAll(path.appending(name)) }
  guard rmdir(path.terminated) == 0 || errno == ENOENT else {
    throw .system("remove the folder", path.shown)
  }
}

func removeFile(_ path: RawPath) throws(SubledgerError) {
  guard unlink(path.terminated) == 0 || errno == ENOENT else {
    throw .system("remove the file", path.shown)
  }
}
