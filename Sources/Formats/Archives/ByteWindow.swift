internal import Domain

/// A source of bytes: the file itself, the inflated level below, or a document's values with one
/// per line.
protocol ByteSource {
  /// Fills `target`; returns less only at the end, except for a document's values.
  func read(into target: UnsafeMutableRawBufferPointer) throws(SubledgerError) -> Int
}

/// A buffer before a source, so that its next bytes can be inspected.
final class ByteWindow {
  private let source: any ByteSource
  private(set) var consumed: Int64 = 0
  private let capacity: Int
  private var buffer: UnsafeMutableRawBufferPointer
  private var start = 0
  private var end = 0
  /// Hash of all bytes of the source, once begun.
  private var hash: ContentHash?

  /// Bytes of the file consumed; above the first level, this includes bytes read ahead.
  var fileOffset: Int64 {
    (source as? GzipSource)?.fileOffset ?? consumed
  }

  init(_ source: any ByteSource, capacity: Int) {
    self.source = source
    self.capacity = max(capacity, 8)
    buffer = .allocate(byteCount: self.capacity, alignment: 64)
  }

  var bytes: UnsafeMutableRawBufferPointer {
    UnsafeMutableRawBufferPointer(rebasing: buffer[start..<end])
  }

  /// Reads until `count` bytes are buffered, and none after them if `isExact`; false when the
  /// source ends first.
  ///
  /// The buffer is doubled if needed, so that each byte is moved about twice at most.
  func fill(atLeast count: Int, isExact: Bool = false) throws(SubledgerError) -> Bool {
    let held = bytes
    if held.count >= count { return true }
    if buffer.count < count {
      let larger = UnsafeMutableRawBufferPointer.allocate(
        byteCount: max(count, buffer.count * 2), alignment: 64)
      larger.copyMemory(from: UnsafeRawBufferPointer(held))
      buffer.deallocate()
      buffer = larger
    } else if start > 0 {
      buffer.copyMemory(from: UnsafeRawBufferPointer(held))
    }
    (start, end) = (0, held.count)
    let most = isExact ? count : min(buffer.count, max(count, end + capacity))
    let target = UnsafeMutableRawBufferPointer(rebasing: buffer[end..<most])
    let added = try source.read(into: target)
    hash?.add(UnsafeRawBufferPointer(rebasing: target.prefix(added)))
    end += added
    return end >= count
  }

  /// Starts to hash all bytes of the source; nothing may be consumed yet.
  func beginHash() {
    hash = ContentHash()
    hash?.add(UnsafeRawBufferPointer(bytes))
  }

  var contentHash: Int64 { hash?.value ?? 0 }

  func consume(_ count: Int) {
    start += count
    consumed += Int64(count)
  }

  /// The compression of the next bytes, by their magic; nil if there is none or this build cannot
  /// read it.
  func compression() throws(SubledgerError) -> Compression? {
    _ = try fill(atLeast: 8)
    return Compression.readable.first { $0.begins(bytes) }
  }

  /// Consumes the source up to its byte `end`, or to its own end, piece by piece, and reads no
  /// further.
  func pass(
    upTo end: Int64, _ body: (UnsafeRawBufferPointer) throws -> Void = { _ in }
  ) throws {
    while consumed < end {
      let wanted = Int(min(end - consumed, Int64(capacity)))
      _ = try fill(atLeast: wanted, isExact: true)
      let piece = bytes.prefix(wanted)
      if piece.isEmpty { return }
      try body(UnsafeRawBufferPointer(rebasing: piece))
      consume(piece.count)
    }
  }

  deinit { buffer.deallocate() }
}
