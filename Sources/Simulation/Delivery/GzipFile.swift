import CZlib
import Foundation

/// Writes one gzip file.
///
/// Its header holds no time and no name, so that equal content gives equal bytes.
final class GzipFile {
  private let path: String
  private let file: FileHandle
  private let stream: UnsafeMutablePointer<z_stream>
  private var output = [UInt8](repeating: 0, count: 1 << 17)

  /// Creates the file and the folders above it.
  init(path: String) throws(SimulateError) {
    self.path = path
    file = try openForWriting(path)
    stream = .allocate(capacity: 1)
    stream.initialize(to: z_stream())
    // 15 bits of window plus 16 ask for a gzip header, whose time zlib leaves at 0.
    let status = deflateInit2_(
      stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
      Int32(MemoryLayout<z_stream>.size))
    guard status == Z_OK else {
      throw .output(path: path, reason: "zlib answered \(status) when asked for a stream")
    }
  }

  func write(_ bytes: Bytes) throws(SimulateError) { try deflate(bytes.array, Z_NO_FLUSH) }

  /// Writes what is left and closes the file.
  func finish() throws(SimulateError) {
    try deflate([], Z_FINISH)
    do {
      try file.close()
    } catch {
      throw .output(path: path, reason: error.localizedDescription)
    }
  }

  private func deflate(_ input: [UInt8], _ flush: Int32) throws(SimulateError) {
    var input = input
    let failure: String? = input.withUnsafeMutableBufferPointer { buffer in
      stream.pointee.next_in = buffer.baseAddress
      stream.pointee.avail_in = UInt32(buffer.count)
      return drain(flush)
    }
    if let failure { throw .output(path: path, reason: failure) }
  }

  private func drain(_ flush: Int32) -> String? {
    while true {
      let room = output.count
      let status = output.withUnsafeMutableBufferPointer { buffer in
        stream.pointee.next_out = buffer.baseAddress
        stream.pointee.avail_out = UInt32(room)
        return CZlib.deflate(stream, flush)
      }
      let count = room - Int(stream.pointee.avail_out)
      do {
        if count > 0 { try file.write(contentsOf: output[..<count]) }
      } catch {
        return error.localizedDescription
      }
      guard status == Z_OK || status == Z_STREAM_END || status == Z_BUF_ERROR else {
        return "zlib answered \(status)"
      }
      if stream.pointee.avail_out > 0 { return nil }
    }
  }

  deinit {
    deflateEnd(stream)
    stream.deinitialize(count: 1)
    stream.deallocate()
  }
}

/// Makes an empty file, and the folders above it.
func openForWriting(_ path: String) throws(SimulateError) -> FileHandle {
  let url = URL(fileURLWithPath: path)
  do {
    try FileManager.default.createDirectory(
      at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data().write(to: url)
    return try FileHandle(forWritingTo: url)
  } catch {
    throw .output(path: path, reason: error.localizedDescription)
  }
}

/// Writes a whole small file.
func write(_ text: String, to path: String) throws(SimulateError) {
  let file = try openForWriting(path)
  do {
    try file.write(contentsOf: Data(text.utf8))
    try file.close()
  } catch {
    throw .output(path: path, reason: error.localizedDescription)
  }
}
