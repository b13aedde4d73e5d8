internal import Glibc

/// A CSV file being written, in pieces of bounded size.
final class CSVFile {
  private let path: String
  private let descriptor: Int32
  private let lineEnd: [UInt8]
  private var buffer: [UInt8] = []

  /// Begins the file at `path`; a part is put behind others later, so nothing marks its beginning.
  init(path: String, dialect: CSVDialect, isPart: Bool = false) throws(ReportError) {
    descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else { throw .cannotCreate(path: path, errorNumber: errno) }
    self.path = path
    lineEnd = Array((dialect == .excel ? "\r\n" : "\n").utf8)
    buffer.reserveCapacity(pieceSize + 4096)
    if dialect == .excel, !isPart { buffer.append(contentsOf: [0xef, 0xbb, 0xbf]) }
  }

  deinit { close(descriptor) }

  /// Adds a line and, now and then, hands what is there to the system.
  func add(_ line: CSVLine) throws(ReportError) {
    buffer.append(contentsOf: line.buffer)
    try endLine()
  }

  /// Adds a line that was printed before.
  func add(printed line: UnsafeRawBufferPointer) throws(ReportError) {
    buffer.append(contentsOf: line)
    try endLine()
  }

  private func endLine() throws(ReportError) {
    buffer.append(contentsOf: lineEnd)
    if buffer.count >= pieceSize { try flush() }
  }

  /// Adds the bytes of another file, which is a part of this one.
  func append(fileAt part: String) throws(ReportError) {
    let source = open(part, O_RDONLY | O_CLOEXEC)
    guard source >= 0 else { throw .cannotRead(path: part, errorNumber: errno) }
    defer { close(source) }
    var piece = [UInt8](repeating: 0, count: pieceSize)
    while true {
      let count = piece.withUnsafeMutableBytes { read(source, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw .cannotRead(path: part, errorNumber: errno) }
      guard count > 0 else { return }
      buffer.append(contentsOf: piece[..<count])
      if buffer.count >= pieceSize { try flush() }
    }
  }

  /// Hands everything to the system; the file may be read then.
  func flush() throws(ReportError) {
    var written = 0
    while written < buffer.count {
      let count = buffer[written...].withUnsafeBytes {
        write(descriptor, $0.baseAddress, $0.count)
      }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw .cannotWrite(path: path, errorNumber: errno) }
      written += count
    }
    buffer.removeAll(keepingCapacity: true)
  }
}

private let pieceSize = 1 << 16
