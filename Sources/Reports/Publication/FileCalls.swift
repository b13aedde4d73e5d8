// The few calls on files and folders that publishing needs, with errors that name the path. Paths
// of others need not be UTF-8.
internal import Formats
internal import Glibc

/// What is at `path`, links not followed; nil if there is nothing.
func status(of path: RawPath) throws(PublishError) -> stat? {
  var status = stat()
  guard lstat(path.terminated, &status) == 0 else {
    guard errno == ENOENT || errno == ENOTDIR else { throw .system("look at", path.shown) }
    return nil
  }
  return status
}

func status(of path: String) throws(PublishError) -> stat? { try status(of: RawPath(path)) }

extension stat {
  var isFile: Bool { st_mode & S_IFMT == S_IFREG }
  var isFolder: Bool { st_mode & S_IFMT == S_IFDIR }

  /// Whether both are of one file.
  func isSame(as other: stat) -> Bool { st_dev == other.st_dev && st_ino == other.st_ino }

  /// Whether the file was written later than another one.
  func isNewer(than other: stat) -> Bool {
    (st_mtim.tv_sec, st_mtim.tv_nsec) > (other.st_mtim.tv_sec, other.st_mtim.tv_nsec)
  }
}

/// Whether `path` is a folder, or a link to one.
func isFolder(_ path: String) -> Bool {
  var status = stat()
  return stat(path, &status) == 0 && status.isFolder
}

/// The part before the last `/`; `.` if there is none.
func parent(of path: String) -> String {
  guard let slash = path.lastIndex(of: "/") else { return "." }
  return slash == path.startIndex ? "/" : String(path[..<slash])
}

/// The part after the last `/`.
func lastPart(of path: String) -> String {
  path.lastIndex(of: "/").map { String(path[path.index(after: $0)...]) } ?? path
}

/// Makes a folder of mode 0755 less the umask, and the folders above it; one that exists is fine.
func makeFolders(_ path: String) throws(PublishError) {
  if isFolder(path) { return }
  let above = parent(of: path)
  if above != path, above != "." { try makeFolders(above) }
  guard mkdir(path, 0o755) == 0 || errno == EEXIST && isFolder(path) else {
    throw .system("make the folder", path, .cannotCreate)
  }
}

/// The names in a folder, sorted by bytes.
func names(in folder: RawPath) throws(PublishError) -> [RawPath] {
  guard let names = folder.names() else { throw .system("read the folder", folder.shown) }
  return names
}

/// The names in a folder, sorted by bytes; bytes that are not UTF-8 are replaced.
func names(in folder: String) throws(PublishError) -> [String] {
  try names(in: RawPath(folder)).map { String(decoding: $0.bytes, as: UTF8.self) }
}

/// Writes a new file of mode 0644 less the umask.
func writeFile(_ bytes: [UInt8], to path: String) throws(PublishError) {
  guard let file = OpenFile(path, O_WRONLY | O_CREAT | O_TRUNC, rights: 0o644) else {
    throw .system("make the file", path, .cannotCreate)
  }
  guard bytes.withUnsafeBytes(file.write) else { throw .system("write the file", path) }
}

/// Waits until a file or folder is on the disk.
func sync(_ path: String) throws(PublishError) { try sync(RawPath(path)) }

func sync(_ path: RawPath) throws(PublishError) {
  guard let file = OpenFile(path.terminated, O_RDONLY) else { throw .system("open", path.shown) }
  guard file.sync() else { throw .system("sync", path.shown) }
}

/// Calls `body` at the bytes of a file, piece by piece.
func forEachPiece(
  of path: String, _ body: (UnsafeRawBufferPointer) throws(PublishError) -> Void
) throws(PublishError) {
  guard let file = FilePieces(of: path, flags: O_NOFOLLOW) else { throw .system("open", path) }
  while true {
    guard let piece = file.next() else { throw .system("read", path) }
    if piece.isEmpty { return }
    try body(piece)
  }
}

/// A small file's bytes; nil if there is none.
func readFile(_ path: String) throws(PublishError) -> [UInt8]? {
  guard try status(of: path)?.isFile == true else { return nil }
  var bytes: [UInt8] = []
  try forEachPiece(of: path) { bytes.append(contentsOf: $0) }
  return bytes
}

/// Removes a file, or a folder with all it holds, if it is there.
func removeAll(_ path: RawPath) throws(PublishError) {
  guard let status = try status(of: path) else { return }
  guard status.isFolder else { return try removeFile(path) }
  for name in try names(in: path) { try removeAll(path.appending(name)) }
  guard rmdir(path.terminated) == 0 || errno == ENOENT else {
    throw .system("remove the folder", path.shown)
  }
}

func removeAll(_ path: String) throws(PublishError) { try removeAll(RawPath(path)) }

func removeFile(_ path: RawPath) throws(PublishError) {
  guard unlink(path.terminated) == 0 || errno == ENOENT else {
    throw .system("remove the file", path.shown)
  }
}

func removeFile(_ path: String) throws(PublishError) { try removeFile(RawPath(path)) }

/// The files below a folder, as paths relative to it, sorted by bytes.
func files(below folder: String) throws(PublishError) -> [String] {
  var found: [String] = []
  var open = [""]
  while let prefix = open.popLast() {
    for name in try names(in: folder + "/" + prefix) {
      let path = prefix + name
      if try status(of: "\(folder)/\(path)")?.isFolder == true {
        open.append(path + "/")
      } else {
        found.append(path)
      }
    }
  }
  return found.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
}
