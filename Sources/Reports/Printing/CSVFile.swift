internal import Formats
internal import Glibc
internal import Domain

/// Writes a CSV file through a buffer of bounded size.
final class CSVFile {
  private let path: String
  private let file: OpenFile
  private let lineEnd: [UInt8]
  private var buffer: [UInt8] = []
  private let digest = SHA256Digest()
  private var bytes: Int64 = 0

  /// Creates the file at `path`, with a header unless there are no columns.
  init(path: String, dialect: CSVDialect, columns: [ReportColumn] = []) throws(SubledgerError) {
    guard let file = OpenFile(path, O_WRONLY | O_CREAT | O_TRUNC, rights: 0o644) else {
      throw .system("make the file", path, .cannotCreate)
    }
    self.file = file
    self.path = path
    let isPlain = dialect == .rfc4180
    lineEnd = Array((isPlain ? "\n" : "\r\n").utf8)
    buffer.reserveCapacity(pieceSize + 4096)
    if !isPlain { buffer.append(contentsOf: [0xef, 0xbb, 0xbf]) }
    var header = CSVLine(dialect)
    for column in columns { header.add(plain: column.name) }
    if !columns.isEmpty { try add(header) }
  }

  func add(_ line: CSVLine) throws(SubledgerError) {
    buffer.append(contentsOf: line.buffer)
    try endLine()
  }

  /// Adds a printed line without its line end.
  func add(line: UnsafeRawBufferPointer) throws(SubledgerError) {
    buffer.append(line)
    try endLine()
  }

  private func endLine() throws(SubledgerError) {
    buffer.append(contentsOf: lineEnd)
    if buffer.count >= pieceSize { try flush() }
  }

  /// Writes the rest of the buffer, so that the file can be read, and returns its size and hash.
  func finish() throws(SubledgerError) -> FileSeal {
    try flush()
    return FileSeal(bytes: bytes, sha256: digest.finish())
  }

  private func flush() throws(SubledgerError) {
    guard buffer.withUnsafeBytes(file.write) else {
      throw .system("write the file", path)
    }
    buffer.withUnsafeBytes(digest.update)
    bytes += Int64(buffer.count)
    buffer.removeAll(keepingCapacity: true)
  }
}

private let pieceSize = 1 << 16
