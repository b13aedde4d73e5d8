internal import CZlib
internal import Domain
internal import Glibc

// The only file of this module besides InflateStream.swift that uses zlib.

/// Packs bytes as one gzip member (RFC 1952) whose header has no time and no name, so that equal
/// content gives equal bytes.
public final class GzipPacker {
  // zlib keeps the address of the stream in its state, so the stream must not move.
  private let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
  private var room = [UInt8](repeating: 0, count: 1 << 16)

  /// Starts a member.
  public init(level: Int32 = 6) {
    stream.initialize(to: z_stream())
    // 15: the largest window; + 16: with gzip header and trailer.
    let status = deflateInit2_(
      stream, level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
      Int32(MemoryLayout<z_stream>.size))
    precondition(status == Z_OK, "there is memory for one stream")
  }

  /// Packs the next `bytes` and calls `take` with the output so far.
  public func add(
    _ bytes: UnsafeRawBufferPointer, _ take: (UnsafeRawBufferPointer) throws -> Void
  ) rethrows {
    guard !bytes.isEmpty else { return }
    try pack(bytes, Z_NO_FLUSH, take)
  }

  /// Ends the member and calls `take` with the remaining output.
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

/// `bytes` as one gzip member.
public func gzipMember(of bytes: [UInt8], level: Int32 = 6) -> [UInt8] {
  let packer = GzipPacker(level: level)
  var packed: [UInt8] = []
  bytes.withUnsafeBytes { packer.add($0) { packed += $0 } }
  packer.finish { packed += $0 }
  return packed
}

/// The content of one gzip member; nil when it is damaged or has more than `bytesMax` bytes.
public func gzipContent(of packed: [UInt8], bytesMax: Int = .max) -> [UInt8]? {
  var bytes: [UInt8] = []
  let problem = packed.withUnsafeBytes { packed in
    var isRead = false
    return inflateMember(bytesMax: Int64(bytesMax)) {
      defer { isRead = true }
      return isRead ? UnsafeRawBufferPointer(rebasing: packed.prefix(0)) : packed
    } put: {
      bytes += $0
    }
  }
  return problem == nil ? bytes : nil
}

/// Inflates one gzip member from pieces that `next` returns; the last piece is empty.
///
/// - Returns: why the bytes are not one whole member of at most `bytesMax` bytes; nil if they are.
func inflateMember(
  bytesMax: Int64, _ next: () throws -> UnsafeRawBufferPointer,
  put: (UnsafeRawBufferPointer) throws -> Void
) rethrows -> String? {
  guard let stream = InflateStream() else { return "there is not enough memory" }
  let made = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 16)
  defer { made.deallocate() }
  var total: Int64 = 0
  var isEnded = false
  while true {
    let piece = try next()
    if piece.isEmpty { return isEnded ? nil : "the file ends too early" }
    if isEnded { return "bytes follow its end" }
    var rest = UnsafeMutableRawBufferPointer(mutating: piece)
    var isFull = false
    repeat {
      let step = stream.step(rest, into: made)
      rest = UnsafeMutableRawBufferPointer(rebasing: rest[step.taken...])
      total += Int64(step.made)
      guard total <= bytesMax else { return "it holds more than \(bytesMax) bytes" }
      try put(UnsafeRawBufferPointer(rebasing: made[..<step.made]))
      isFull = step.made == made.count
      switch step.outcome {
      case .running: if step.isIdle, !rest.isEmpty { return "its data cannot be read further" }
      case .memberEnd:
        isEnded = true
        if !rest.isEmpty { return "bytes follow its end" }
      case .corrupt(let reason): return reason
      case .outOfMemory: return "there is not enough memory"
      }
    } while !isEnded && (!rest.isEmpty || isFull)
  }
}

/// Inflates the gzip file at `path` into a new file at `target`.
///
/// - Throws: `SubledgerError` when a file cannot be read or written.
/// - Returns: why the bytes are not a whole gzip file of at most `bytesMax` bytes; nil if they are.
public func unpackGzip(
  _ path: String, into target: String, bytesMax: Int64
) throws -> String? {
  let location = RawPath(path)
  guard let input = FilePieces(of: path) else {
    throw SubledgerError.system("read \(location.shown)", cause: errno)
  }
  guard let output = OpenFile(target, O_WRONLY | O_CREAT | O_EXCL, rights: 0o600) else {
    throw SubledgerError.system("make \(target)", cause: errno)
  }
  return try inflateMember(bytesMax: bytesMax) {
    guard let piece = input.next() else {
      throw SubledgerError.system("read \(location.shown)", cause: errno)
    }
    return piece
  } put: { bytes in
    guard output.write(bytes) else {
      throw SubledgerError.system("write \(target)", cause: errno)
    }
  }
}
