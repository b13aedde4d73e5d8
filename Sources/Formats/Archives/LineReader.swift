internal import Domain

/// Sizes, in bytes, that decide where lines are cut; tests make them small.
struct LineSizes {
  var buffer = 256 << 10
  /// A line that does not end within this many bytes is cut between its values.
  var glued = 1 << 20
  var valueMax = defaultValueBytesMax
}

/// Cuts bytes into chunks of whole lines, holding no more than one value and one buffer.
final class LineReader {
  typealias Body = (ArchiveChunk) throws -> Void

  private let source: ByteWindow
  private let sizes: LineSizes
  private var buffer: UnsafeMutableRawBufferPointer
  /// Bytes held, from the buffer's start.
  private var count = 0
  /// Bytes held that are known to have no newline.
  private var searched = 0
  /// Offset in the source of the first byte held.
  private var offset: Int64 = 0
  private var line: Int64 = 1
  /// How many bytes without newline are held before their values are looked at.
  private var patience: Int
  /// The search for the end of a value that is too long to be held.
  private var skipping: ValueEnd?
  /// Whole lines before this offset are not delivered.
  private let known: Int64

  init(_ source: ByteWindow, sizes: LineSizes, known: Int64 = 0) {
    self.source = source
    self.sizes = sizes
    self.known = known
    patience = sizes.glued
    buffer = .allocate(byteCount: max(sizes.buffer, 1), alignment: 64)
  }

  var position: Int64 { offset + Int64(count) }

  /// Delivers all lines but one that ends with the source; `finish` does that.
  func run(_ body: Body) throws {
    while try fill() {
      if skipping != nil, !skip() { continue }
      if let end = endOfLastLine() {
        try deliver(upTo: end, body)
        patience = sizes.glued
      } else if count >= patience {
        try cutWithinLine(body)
      }
    }
  }

  /// Delivers the last line, which has no newline; of a torn one, only the values that are whole.
  ///
  /// Answers whether it was cut off: where `mayBeCut`, one that ends inside an object or array that
  /// is not too long so far is torn as well.
  func finish(isTorn: Bool, mayBeCut: Bool, _ body: Body) throws -> Bool {
    if position <= known { drop(count) }
    guard isTorn || mayBeCut else {
      try deliver(upTo: count, body)
      return false
    }
    let scan = ValueScan(held(0..<count), valueBytesMax: .max)
    let isCut = mayBeCut && endsInside(scan)
    if scan.isLastWhole || !(isTorn || isCut) {
      try deliver(upTo: count, body)
    } else if let last = scan.lastStart {
      try deliver(upTo: last, body)
    }
    return isCut
  }

  private func endsInside(_ scan: ValueScan) -> Bool {
    guard let start = scan.lastStart, !scan.isLastClosed else { return false }
    return ValueEnd.isOpening(buffer[start]) && count - start <= sizes.valueMax
  }

  private func fill() throws(SubledgerError) -> Bool {
    if buffer.count - count < max(1, sizes.buffer / 4) { grow() }
    let room = buffer[count..<min(buffer.count, count + max(1, sizes.buffer))]
    let added = try source.read(into: UnsafeMutableRawBufferPointer(rebasing: room))
    count += added
    return added > 0
  }

  private func grow() {
    let most = max(sizes.glued, sizes.valueMax + 1) + 2 * sizes.buffer + 2
    let larger = UnsafeMutableRawBufferPointer.allocate(
      byteCount: min(buffer.count * 2, most), alignment: 64)
    larger.copyMemory(from: held(0..<count))
    buffer.deallocate()
    buffer = larger
  }

  private func endOfLastLine() -> Int? {
    let found = lastNewline(in: held(searched..<count))
    defer { searched = count }
    return found.map { searched + $0 + 1 }
  }

  /// Delivers the first `end` bytes held, but for values that are too long.
  private func deliver(upTo end: Int, _ body: Body) throws {
    var start = knownLines(upTo: end)
    while end - start > sizes.valueMax {
      let scan = ValueScan(held(start..<end), valueBytesMax: sizes.valueMax)
      guard let oversized = scan.oversized else { break }
      try emit(start..<start + oversized.start, body)
      try body(
        .oversizedValue(line: line, byteOffset: offset + Int64(start + oversized.start)))
      start = oversized.end.map { start + $0 } ?? end
    }
    try emit(start..<end, body)
    drop(end)
  }

  /// The end of the lines, of those in the first `end` bytes held, that are not to be delivered.
  private func knownLines(upTo end: Int) -> Int {
    guard offset < known else { return 0 }
    let lines = held(0..<Int(min(Int64(end), known - offset)))
    guard let last = lastNewline(in: lines) else { return 0 }
    line += newlines(in: UnsafeRawBufferPointer(rebasing: lines[...last]))
    return last + 1
  }

  /// Frees buffer space while a line does not end: delivers its values but the last, or skips a
  /// long one.
  private func cutWithinLine(_ body: Body) throws {
    let scan = ValueScan(held(0..<count), valueBytesMax: sizes.valueMax)
    if let oversized = scan.oversized {
      if let end = oversized.end { return try deliver(upTo: end, body) }
      try emit(0..<oversized.start, body)
      try body(.oversizedValue(line: line, byteOffset: offset + Int64(oversized.start)))
      skipping = oversized.search
      drop(count)
      patience = sizes.glued
      return
    }
    var cut = scan.lastStart ?? count
    if cut == 0, scan.isLastClosed { cut = count }
    if cut == 0 {
      // Twice as long each time, so that no byte is scanned more than about twice.
      patience = min(patience * 2, max(sizes.glued, sizes.valueMax + 1))
    } else {
      try emit(0..<cut, body)
      drop(cut)
      patience = sizes.glued
    }
  }

  /// Drops held bytes of the value that is too long; true when it has ended.
  private func skip() -> Bool {
    guard var search = skipping else { return true }
    let end = search.find(in: held(0..<count), from: 0)
    skipping = end == nil ? search : nil
    drop(end ?? count)
    searched = 0
    return end != nil
  }

  /// Delivers held bytes; those of a long line in pieces of whole values, because the events of all
  /// its values can exceed memory.
  private func emit(_ range: Range<Int>, _ body: Body) throws {
    var start = range.lowerBound
    while range.upperBound - start > 2 * sizes.buffer {
      let rest = held(start..<range.upperBound)
      guard let end = ValueScan(rest, valueBytesMax: .max, enough: sizes.buffer).end else { break }
      try emit(piece: start..<start + end, body)
      start += end
    }
    try emit(piece: start..<range.upperBound, body)
  }

  private func emit(piece range: Range<Int>, _ body: Body) throws {
    if range.isEmpty { return }
    let bytes = held(range)
    try body(.lines(bytes, firstLine: line, firstOffset: offset + Int64(range.lowerBound)))
    line += newlines(in: bytes)
  }

  private func drop(_ end: Int) {
    if let base = buffer.baseAddress, end < count {
      base.copyMemory(from: base + end, byteCount: count - end)
    }
    offset += Int64(end)
    count -= end
    searched = count
  }

  private func held(_ range: Range<Int>) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: buffer[range])
  }

  deinit { buffer.deallocate() }
}
