internal import Domain

/// Sizes in bytes that decide where lines are cut; tests use small ones.
struct LineSizes {
  var buffer = 256 << 10
  /// A line longer than this is cut between its values.
  var longLine = 1 << 20
  var valueMax = defaultValueBytesMax
}

/// Cuts bytes into chunks of whole lines; `source` holds at most one value and one buffer.
final class LineReader {
  typealias Body = (ArchiveChunk) throws -> Void

  private let source: ByteWindow
  private let sizes: LineSizes
  /// Number of the source's next bytes that were looked at and are held.
  private var count = 0
  /// Number of bytes held that are known to contain no newline.
  private var searched = 0
  private var line: Int64 = 1
  /// How many bytes without newline are held before their values are scanned.
  private var scanThreshold: Int
  /// The search for the end of a value that is too long to hold.
  private var skipping: ValueEnd?
  /// Whole lines before this offset are not delivered.
  private let known: Int64

  init(_ source: ByteWindow, sizes: LineSizes, known: Int64 = 0) {
    self.source = source
    self.sizes = sizes
    self.known = known
    scanThreshold = sizes.longLine
  }

  var position: Int64 { source.consumed + Int64(count) }

  /// Delivers all lines except a last one without newline, which `finish` delivers.
  func run(_ body: Body) throws {
    while try fill() {
      if skipping != nil, !skip() { continue }
      if let end = endOfLastLine() {
        try deliver(upTo: end, body)
        scanThreshold = sizes.longLine
      } else if count >= scanThreshold {
        try cutWithinLine(body)
      }
    }
  }

  /// Delivers the last line, which has no newline; if it is torn, only its whole values.
  ///
  /// Returns whether the line was cut off. Where `mayBeCut`, a line that ends inside an object or
  /// array counts as torn too, unless that is too long already.
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
    return ValueEnd.isOpening(source.bytes[start]) && count - start <= sizes.valueMax
  }

  private func fill() throws(SubledgerError) -> Bool {
    guard try source.fill(atLeast: count + 1) else { return false }
    count = min(source.bytes.count, count + max(1, sizes.buffer))
    return true
  }

  private func endOfLastLine() -> Int? {
    let found = lastNewline(in: held(searched..<count))
    defer { searched = count }
    return found.map { searched + $0 + 1 }
  }

  /// Delivers the first `end` bytes held, without values that are too long.
  private func deliver(upTo end: Int, _ body: Body) throws {
    var start = knownLines(upTo: end)
    while end - start > sizes.valueMax {
      let scan = ValueScan(held(start..<end), valueBytesMax: sizes.valueMax)
      guard let oversized = scan.oversized else { break }
      try emit(start..<start + oversized.start, body)
      try body(
        .oversizedValue(line: line, byteOffset: source.consumed + Int64(start + oversized.start)))
      start = oversized.end.map { start + $0 } ?? end
    }
    try emit(start..<end, body)
    drop(end)
  }

  /// The end of the lines within the first `end` bytes held that are known and not delivered; of a
  /// long line, `end` is the end of a value.
  private func knownLines(upTo end: Int) -> Int {
    guard source.consumed < known else { return 0 }
    let lines = held(0..<Int(min(Int64(end), known - source.consumed)))
    guard let last = lines.count == end ? end - 1 : lastNewline(in: lines), last >= 0 else {
      return 0
    }
    line += newlines(in: UnsafeRawBufferPointer(rebasing: lines[...last]))
    return last + 1
  }

  /// Frees buffer space during a long line: delivers its values except the last, or skips one that
  /// is too long.
  private func cutWithinLine(_ body: Body) throws {
    let scan = ValueScan(held(0..<count), valueBytesMax: sizes.valueMax)
    if let oversized = scan.oversized {
      if let end = oversized.end { return try deliver(upTo: end, body) }
      try deliver(upTo: oversized.start, body)
      // `known` includes a newline that may not be there.
      if source.consumed >= known - 1 {
        try body(.oversizedValue(line: line, byteOffset: source.consumed))
      }
      skipping = oversized.search
      drop(count)
      scanThreshold = sizes.longLine
      return
    }
    var cut = scan.lastStart ?? count
    if cut == 0, scan.isLastClosed { cut = count }
    if cut == 0 {
      // Doubled each time, so that each byte is scanned about twice at most.
      scanThreshold = min(scanThreshold * 2, max(sizes.longLine, sizes.valueMax + 1))
    } else {
      try deliver(upTo: cut, body)
      scanThreshold = sizes.longLine
    }
  }

  /// Drops held bytes of a value that is too long; true when the value has ended.
  private func skip() -> Bool {
    guard var search = skipping else { return true }
    let end = search.find(in: held(0..<count), from: 0)
    skipping = end == nil ? search : nil
    drop(end ?? count)
    searched = 0
    return end != nil
  }

  /// Delivers held bytes; a long line is delivered in pieces of whole values because the events of
  /// all its values may exceed memory.
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
    try body(.lines(bytes, firstLine: line, firstOffset: source.consumed + Int64(range.lowerBound)))
    line += newlines(in: bytes)
  }

  private func drop(_ end: Int) {
    source.consume(end)
    count -= end
    searched = count
  }

  private func held(_ range: Range<Int>) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: source.bytes[range])
  }
}

func newlines(in bytes: UnsafeRawBufferPointer) -> Int64 {
  var (count, start): (Int64, Int) = (0, 0)
  while let end = bytes.place(of: UInt8(ascii: "\n"), from: start) {
    count += 1
    start = end + 1
  }
  return count
}

func lastNewline(in bytes: UnsafeRawBufferPointer) -> Int? {
  bytes.lastIndex(of: UInt8(ascii: "\n"))
}
