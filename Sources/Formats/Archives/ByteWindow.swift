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
    buffer = .allocate(byteCount: max(capacity, 8), alignment: 64)
  }

  var bytes: UnsafeMutableRawBufferPointer {
    UnsafeMutableRawBufferPointer(rebasing: buffer[start..<end])
  }

  /// Reads until `count` bytes are buffered, growing the buffer if needed; false when the source
  /// ends first.
  func fill(atLeast count: Int) throws(SubledgerError) -> Bool {
    if end - start >= count { return true }
    let held = bytes
    if buffer.count < count {
      let larger = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 64)
      larger.copyMemory(from: UnsafeRawBufferPointer(held))
      buffer.deallocate()
      buffer = larger
    } else {
      buffer.copyMemory(from: UnsafeRawBufferPointer(held))
    }
    (start, end) = (0, held.count)
    end += try readSource(into: UnsafeMutableRawBufferPointer(rebasing: buffer[end...]))
    return end >= count
  }

  /// Starts to hash all bytes of the source; nothing may be consumed yet.
  func beginHash() {
    hash = ContentHash()
    hash?.add(UnsafeRawBufferPointer(bytes))
  }

  var contentHash: Int64 { hash?.value ?? 0 }

  private func readSource(
    into target: UnsafeMutableRawBufferPointer
  ) throws(SubledgerError) -> Int {
    let count = try source.read(into: target)
    hash?.add(UnsafeRawBufferPointer(rebasing: target.prefix(count)))
    return count
  }

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

  /// Moves the next bytes to `target`, directly from the source once the window is empty; returns
  /// less only at the end.
  func read(into target: UnsafeMutableRawBufferPointer) throws(SubledgerError) -> Int {
    let held = min(end - start, target.count)
    target.copyMemory(
      from: UnsafeRawBufferPointer(rebasing: buffer[start..<start + held]))
    consume(held)
    if held == target.count { return held }
    let rest = UnsafeMutableRawBufferPointer(rebasing: target[held...])
    let count = try readSource(into: rest)
    consumed += Int64(count)
    return held + count
  }

  /// Consumes the source up to its byte `end`, or to its own end, piece by piece.
  func pass(
    upTo end: Int64, _ body: (UnsafeRawBufferPointer) throws -> Void = { _ in }
  ) throws {
    let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 << 10, alignment: 64)
    defer { piece.deallocate() }
    while consumed < end {
      let wanted = piece.prefix(Int(clamping: end - consumed))
      let count = try read(into: UnsafeMutableRawBufferPointer(rebasing: wanted))
      if count == 0 { return }
      try body(UnsafeRawBufferPointer(rebasing: piece[..<count]))
    }
  }

  deinit { buffer.deallocate() }
}
