internal import CZlib

/// Bytes that are kept for long and read rarely, as one gzip member (RFC 1952).
///
/// Equal bytes give equal members: the header holds neither time nor name.
enum Gzip {
  /// Of published rows, level 2 makes an eighth more than the usual 6, in a third of the time.
  private static let level: Int32 = 2

  /// The member that holds `bytes`; at most 4 GiB go in.
  static func compress(_ bytes: [UInt8]) -> [UInt8] {
    // The stream must not move: zlib keeps its address.
    let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
    stream.initialize(to: z_stream())
    defer { stream.deallocate() }
    let status = deflateInit2_(
      stream, level, Z_DEFLATED, windowBits + gzipWrapper, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
      Int32(MemoryLayout<z_stream>.size))
    precondition(status == Z_OK, "zlib has memory for one stream")
    defer { deflateEnd(stream) }
    var input = bytes
    var output = [UInt8](repeating: 0, count: Int(deflateBound(stream, UInt(bytes.count))))
    let made = input.withUnsafeMutableBufferPointer { input in
      output.withUnsafeMutableBufferPointer { output in
        step(stream, input, output) { deflate($0, Z_FINISH) == Z_STREAM_END }
      }
    }
    precondition(made != nil, "the bound is enough for all of it")
    output.removeSubrange((made ?? 0)...)
    return output
  }

  /// What `compress` was given; nil when `bytes` are no whole member that it makes.
  static func expand(_ bytes: UnsafeRawBufferPointer) -> [UInt8]? {
    guard bytes.count >= 18 else { return nil }
    // A member ends with the length of its content; deflate packs at most 1032 to 1.
    let length = bytes.suffix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
    guard length <= bytes.count * 1032 else { return nil }
    let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
    stream.initialize(to: z_stream())
    defer { stream.deallocate() }
    let status = inflateInit2_(
      stream, windowBits + gzipWrapper, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
    precondition(status == Z_OK, "zlib has memory for one stream")
    defer { inflateEnd(stream) }
    var input = Array(bytes)
    // One byte more, so that there is somewhere to write to when nothing is in it.
    var output = [UInt8](repeating: 0, count: length + 1)
    let made = input.withUnsafeMutableBufferPointer { input in
      output.withUnsafeMutableBufferPointer { output in
        step(stream, input, output) { inflate($0, Z_FINISH) == Z_STREAM_END }
      }
    }
    guard made == length else { return nil }
    output.removeLast()
    return output
  }

  /// Bytes made in one step; nil when `work` says that it failed.
  private static func step(
    _ stream: UnsafeMutablePointer<z_stream>, _ input: UnsafeMutableBufferPointer<UInt8>,
    _ output: UnsafeMutableBufferPointer<UInt8>, _ work: (UnsafeMutablePointer<z_stream>) -> Bool
  ) -> Int? {
    stream.pointee.next_in = input.baseAddress
    stream.pointee.avail_in = UInt32(input.count)
    stream.pointee.next_out = output.baseAddress
    stream.pointee.avail_out = UInt32(output.count)
    return work(stream) ? output.count - Int(stream.pointee.avail_out) : nil
  }

  /// The largest window.
  private static let windowBits: Int32 = 15
  /// Added to the window, it asks zlib for a gzip header and trailer.
  private static let gzipWrapper: Int32 = 16
}
