internal import Domain

/// Where bytes come from: the file itself, what inflating the level below gives, or its values with
/// one on each line.
protocol ByteSource {
  /// Fills `target`; less only at the end, but for a document's values.
  func read(into target: UnsafeMutableRawBufferPointer) throws(SubledgerError) -> Int
}

/// A buffer in front of a source, so that its next bytes can be looked at.
final class ByteWindow {
  private let source: any ByteSource
  private(set) var consumed: Int64 = 0
  private var buffer: UnsafeMutableRawBufferPointer
  private var start = 0
  private var end = 0
  /// Of all bytes of the source, once begun.
  private var hash: ContentHash?

  /// Consumed bytes of the file; above the first level, including bytes read ahead.
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

  /// Reads on until `count` bytes are at hand; false when the source ends before.
  func fill(atLeast count: Int) throws(SubledgerError) -> Bool {
    if end - start >= count { return true }
    if let base = buffer.baseAddress { base.copyMemory(from: base + start, byteCount: end - start) }
    end -= start
    start = 0
    end += try readSource(into: UnsafeMutableRawBufferPointer(rebasing: buffer[end...]))
    return end >= count
  }

  /// Begins to hash all that the source gives; nothing is taken of it yet.
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

  /// Reads on until at least `count` bytes are at hand, whatever the capacity, or the source ends.
  func look(at count: Int) throws(SubledgerError) -> UnsafeMutableRawBufferPointer {
    if buffer.count < count {
      let larger = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 64)
      larger.copyMemory(from: UnsafeRawBufferPointer(bytes))
      (start, end) = (0, end - start)
      buffer.deallocate()
      buffer = larger
    }
    _ = try fill(atLeast: count)
    return bytes
  }

  func consume(_ count: Int) {
    start += count
    consumed += Int64(count)
  }

  /// How the next bytes are compressed, by their magic; nil if they are not, or not readably.
  func compression() throws(SubledgerError) -> Compression? {
    _ = try fill(atLeast: 8)
    return Compression.readable.first { $0.begins(bytes) }
  }

  /// Moves the next bytes to `target`, past the window once it is empty; less only at the end.
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

  /// Passes over the first `end` bytes of the source, or as many as it has, piece by piece.
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
