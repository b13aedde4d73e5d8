// Paths as the system has them: what others name need not be UTF-8.
internal import Glibc

/// A path, or a name in one, by its bytes.
struct RawPath: Hashable {
  private var bytes: [UInt8]

  init(_ text: String) { bytes = Array(text.utf8) }

  /// A name as the system lists it.
  init(name: UnsafePointer<CChar>) {
    let count = strlen(name)
    bytes = name.withMemoryRebound(to: UInt8.self, capacity: count) {
      Array(UnsafeBufferPointer(start: $0, count: count))
    }
  }

  /// As people read it; bytes that are no text are replaced.
  var shown: String { String(decoding: bytes, as: UTF8.self) }

  /// What stands in the folder of this path under `name`, which may be a path itself;
  /// the folder when it is empty.
  func appending(_ name: RawPath) -> RawPath {
    if name.bytes.isEmpty { return self }
    var path = self
    if !bytes.isEmpty { path.bytes.append(UInt8(ascii: "/")) }
    path.bytes += name.bytes
    return path
  }

  /// The part before the last `/`; empty when there is none.
  var parent: RawPath {
    var path = self
    path.bytes = Array(bytes.prefix(upTo: bytes.lastIndex(of: UInt8(ascii: "/")) ?? 0))
    return path
  }

  /// Calls `body` at the bytes as the system takes them.
  func withCString<Result>(_ body: (UnsafePointer<CChar>) -> Result) -> Result {
    (bytes + [0]).withUnsafeBufferPointer { buffer in
      buffer.withMemoryRebound(to: CChar.self) { text in
        text.baseAddress.map(body) ?? "".withCString(body)
      }
    }
  }

  static func precedes(_ left: RawPath, _ right: RawPath) -> Bool {
    left.bytes.lexicographicallyPrecedes(right.bytes)
  }
}

/// What the system says of `path`, links not followed; nil when nothing stands there.
func status(of path: RawPath) throws(PublishError) -> stat? {
  var status = stat()
  guard path.withCString({ lstat($0, &status) }) == 0 else {
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
func names(in folder: RawPath) throws(PublishError) -> [RawPath] {
  guard let stream = folder.withCString({ opendir($0) }) else {
    throw .system("read the folder", folder.shown)
  }
  defer { closedir(stream) }
  var names: [RawPath] = []
  while true {
    // A list that ends early would pass for the folder's whole content.
    errno = 0
    guard let entry = readdir(stream) else {
      guard errno == 0 else { throw .system("read the folder", folder.shown) }
      break
    }
    let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
      pointer.withMemoryRebound(to: CChar.self, capacity: 256) { RawPath(name: $0) }
    }
    if name != RawPath("."), name != RawPath("..") { names.append(name) }
  }
  return names.sorted(by: RawPath.precedes)
}

/// Removes a file, or a folder with all it holds; nothing there is fine.
func removeAll(_ path: RawPath) throws(PublishError) {
  guard let status = try status(of: path) else { return }
  guard status.isFolder else { return try removeFile(path) }
  for name in try names(in: path) { try removeAll(path.appending(name)) }
  guard path.withCString({ rmdir($0) }) == 0 || errno == ENOENT else {
    throw .system("remove the folder", path.shown)
  }
}

func removeFile(_ path: RawPath) throws(PublishError) {
  guard path.withCString({ unlink($0) }) == 0 || errno == ENOENT else {
    throw .system("remove the file", path.shown)
  }
}
