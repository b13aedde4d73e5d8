// The few file and folder operations that publishing needs, with errors that name the path.
public import Domain
internal import Formats
internal import Glibc

/// The system's entry for `path`, links not followed; nil when it does not exist.
func status(of path: String) throws(SubledgerError) -> stat? {
  var status = stat()
  guard lstat(path, &status) == 0 else {
    guard errno == ENOENT || errno == ENOTDIR else { throw .system("look at", path) }
    return nil
  }
  return status
}

/// Whether `path` itself is a file.
func isFile(_ path: String) throws(SubledgerError) -> Bool {
  try status(of: path)?.isFile ?? false
}

/// Whether `path` is a folder or a link to one.
func isFolder(_ path: String) -> Bool {
  var status = stat()
  return stat(path, &status) == 0 && status.isFolder
}

/// The part before the last `/`; `.` when there is no `/`.
func parent(of path: String) -> String {
  guard let slash = path.lastIndex(of: "/") else { return "." }
  return slash == path.startIndex ? "/" : String(path[..<slash])
}

func lastPart(of path: String) -> String {
  path.lastIndex(of: "/").map { String(path[path.index(after: $0)...]) } ?? path
}

/// Creates a folder and its parents with mode 0755 minus the umask; it may already exist.
func makeFolders(_ path: String) throws(SubledgerError) {
  if isFolder(path) { return }
  let above = parent(of: path)
  if above != path, above != "." { try makeFolders(above) }
  guard mkdir(path, 0o755) == 0 || errno == EEXIST && isFolder(path) else {
    throw .system("make the folder", path, .cannotCreate)
  }
}

/// The names in a folder, sorted by bytes, with bytes that are not UTF-8 replaced.
func names(in folder: String) throws(SubledgerError) -> [String] {
  guard let names = RawPath(folder).names() else { throw .system("read the folder", folder) }
  return names.map { String(decoding: $0.bytes, as: UTF8.self) }
}

/// Writes a new file with mode 0644 minus the umask.
public func writeFile(_ bytes: [UInt8], to path: String) throws(SubledgerError) {
  let file = try newFile(path)
  guard bytes.withUnsafeBytes(file.write) else { throw .system("write the file", path) }
}

func copyFile(_ source: String, to path: String) throws(SubledgerError) {
  let file = try newFile(path)
  try forEachPiece(of: source) { (piece) throws(SubledgerError) in
    guard file.write(piece) else { throw .system("write the file", path) }
  }
}

private func newFile(_ path: String) throws(SubledgerError) -> OpenFile {
  guard let file = OpenFile(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, rights: 0o644) else {
    throw .system("make the file", path, .cannotCreate)
  }
  return file
}

/// Waits until a file or folder is on the disk.
func sync(_ path: String) throws(SubledgerError) {
  guard let file = OpenFile(path, O_RDONLY) else { throw .system("open", path) }
  guard file.sync() else { throw .system("sync", path) }
}

/// Calls `body` with the bytes of a file, in pieces.
func forEachPiece(
  of path: String, _ body: (UnsafeRawBufferPointer) throws(SubledgerError) -> Void
) throws(SubledgerError) {
  guard let file = FilePieces(of: path, flags: O_NOFOLLOW) else { throw .system("open", path) }
  while true {
    guard let piece = file.next() else { throw .system("read", path) }
    if piece.isEmpty { return }
    try body(piece)
  }
}

/// Calls `body` with every line of a file, without its line feed; the last line needs no line feed.
func forEachLine(of path: String, _ body: (UnsafeRawBufferPointer) throws -> Void) throws {
  guard let file = FilePieces(of: path, flags: O_NOFOLLOW) else {
    throw SubledgerError.system("open", path)
  }
  guard try file.forEachLine(body) else { throw SubledgerError.system("read", path) }
}

/// A small file's bytes; nil when it does not exist.
func readFile(_ path: String) throws(SubledgerError) -> [UInt8]? {
  guard try isFile(path) else { return nil }
  var bytes: [UInt8] = []
  try forEachPiece(of: path) { bytes.append(contentsOf: $0) }
  return bytes
}

/// All files below a folder, as paths relative to it.
func files(below folder: String) throws(SubledgerError) -> [String] {
  try FolderEntries(in: OpenFolder(folder)).files.map(\.shown)
}

extension SubledgerError {
  /// An error from `errno`, just set by a system call on the published folder or next to it.
  ///
  /// A path that cannot exist is reported as output that cannot be created.
  static func system(
    _ doing: String, _ path: String, _ usual: Kind = .inputOutput, at place: String = "--out"
  ) -> SubledgerError {
    let isPath = [ENOENT, ENOTDIR, ELOOP, ENAMETOOLONG, EISDIR, EEXIST].contains(errno)
    return .system(
      "\(doing) \(path)", isPath ? .cannotCreate : usual, cause: errno, at: place)
  }
}
