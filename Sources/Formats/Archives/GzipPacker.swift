// With InflateStream.swift the only file of this room that knows zlib.

internal import CZlib

/// Packs bytes as one gzip member (RFC 1952), whose header holds no time and no name, so that equal
/// content gives equal bytes.
public final class GzipPacker {
  // zlib keeps the address of the stream in its state, so the stream must not move.
  private let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
  private var room = [UInt8](repeating: 0, count: 1 << 16)

  /// Begins a member; nil when there is not enough memory.
  public init?() {
    stream.initialize(to: z_stream())
    // 15: the largest window; 16 more: a gzip header and trailer.
    let status = deflateInit2_(
      stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
      Int32(MemoryLayout<z_stream>.size))
    guard status == Z_OK else { return nil }
  }

  /// Packs the next `bytes`, and calls `take` with what they come to so far.
  public func add(
    _ bytes: UnsafeRawBufferPointer, _ take: (UnsafeRawBufferPointer) throws -> Void
  ) rethrows {
    guard !bytes.isEmpty else { return }
    try pack(bytes, Z_NO_FLUSH, take)
  }

  /// Ends the member, and calls `take` with the rest.
  public func finish(_ take: (UnsafeRawBufferPointer) throws -> Void) rethrows {
    try pack(UnsafeRawBufferPointer(start: nil, count: 0), Z_FINISH, take)
  }

  private func pack(
    _ bytes: UnsafeRawBufferPointer, _ flush: Int32,
    _ take: (UnsafeRawBufferPointer) throws -> Void
  ) rethrows {
    stream.pointee.next_in = UnsafeMutablePointer(
      mutating: bytes.baseAddress?.assumingMemoryBound(to: UInt8.self))
    stream.pointee.avail_in = UInt32(bytes.count)
    try room.withUnsafeMutableBytes { room in
      repeat {
        stream.pointee.next_out = room.baseAddress?.assumingMemoryBound(to: UInt8.self)
        stream.pointee.avail_out = UInt32(room.count)
        let status = deflate(stream, flush)
        precondition(
          status != Z_STREAM_ERROR, "a member is packed from its beginning to its end, once")
        let made = room.count - Int(stream.pointee.avail_out)
        if made > 0 { try take(UnsafeRawBufferPointer(rebasing: room[..<made])) }
      } while stream.pointee.avail_out == 0
    }
  }

  deinit {
    deflateEnd(stream)
    stream.deallocate()
  }
}

/// `bytes` as one gzip member; nil when there is not enough memory.
public func gzipMember(of bytes: [UInt8]) -> [UInt8]? {
  guard let packer = GzipPacker() else { return nil }
  var packed: [UInt8] = []
  bytes.withUnsafeBytes { packer.add($0) { packed += $0 } }
  packer.finish { packed += $0 }
  return packed
}

/// What `gzipMember` packed; nil when it is damaged, or holds more than `bytesMax` bytes.
public func gzipContent(of packed: [UInt8], bytesMax: Int) -> [UInt8]? {
  guard let stream = InflateStream() else { return nil }
  var input = packed
  var bytes: [UInt8] = []
  var room = [UInt8](repeating: 0, count: 1 << 16)
  return input.withUnsafeMutableBytes { input in
    room.withUnsafeMutableBytes { room in
      var taken = 0
      while bytes.count <= bytesMax {
        let step = stream.step(
          UnsafeMutableRawBufferPointer(rebasing: input[taken...]), into: room)
        taken += step.taken
        bytes += room[..<step.made]
        switch step.outcome {
        case .running: continue
        case .memberEnd: return taken == input.count && bytes.count <= bytesMax ? bytes : nil
        case .starved, .corrupt, .outOfMemory: return nil
        }
      }
      return nil
    }
  }
}
