internal import Domain
internal import Formats
internal import Glibc

/// Rows of the list of charges in an unlinked file, each part of them sorted.
///
/// Rows arrive by subscription but are printed by time, and those of a day can exceed memory.
struct ChargeSpill {
  private let file: OpenFile
  private let path: String
  private var size = 0
  /// The bytes in the file of each month of each part.
  private var extents: [Month: [Range<Int>]] = [:]
  /// Bytes before they are written.
  private var buffer: [UInt8] = []

  /// Creates the file at `path` and unlinks it.
  init(at path: String) throws(SubledgerError) {
    guard let file = OpenFile(path, O_RDWR | O_CREAT | O_TRUNC, rights: 0o600),
      unlink(path) == 0
    else { throw .system("make the file", path, .cannotCreate, at: "the ledger") }
    self.file = file
    self.path = path
  }

  /// Writes the rows of `part`, which must be sorted.
  mutating func add(_ part: ChargePart) throws(SubledgerError) {
    let rows = part.bytes
    var rest = part.entries[...]
    while let month = rest.first?.day.month {
      let own = rest.prefix { $0.day.month == month }
      let start = size
      for entry in own {
        withUnsafeBytes(of: entry.milliseconds) { buffer.append($0) }
        withUnsafeBytes(of: Int64(entry.count)) { buffer.append($0) }
        rows.withUnsafeBytes { buffer.append($0.row(entry)) }
        size += headerSize + entry.count
        if buffer.count >= pieceSize { try flush() }
      }
      extents[month, default: []].append(start..<size)
      rest = rest[own.endIndex...]
    }
    try flush()
  }

  private mutating func flush() throws(SubledgerError) {
    guard buffer.withUnsafeBytes(file.write) else {
      throw .system("write the file", path, at: "the ledger")
    }
    buffer.removeAll(keepingCapacity: true)
  }

  /// The rows of a month, written in `dialect`; nil when it has none.
  func rows(of month: Month, in dialect: CSVDialect) throws(SubledgerError) -> ChargeRows? {
    guard let extents = extents[month] else { return nil }
    return try ChargeRows(extents, of: self, separator: UInt8(ascii: dialect.separator))
  }

  /// Moves at most `count` bytes from the start of `extent` to the end of `bytes`.
  func read(
    _ extent: inout Range<Int>, _ count: Int, to bytes: inout [UInt8]
  ) throws(SubledgerError) {
    var rest = min(count, extent.count)
    while rest > 0 {
      let before = bytes.count
      bytes.append(addingCapacity: rest) { room in
        room.withUnsafeMutableBufferPointer { room, count in
          count += file.read(into: UnsafeMutableRawBufferPointer(room), at: extent.lowerBound) ?? 0
        }
      }
      let read = bytes.count - before
      guard read > 0 else { throw .system("read", path, at: "the ledger") }
      rest -= read
      extent = extent.dropFirst(read)
    }
  }
}

/// The rows of a month in the order of the list, merged from the parts.
struct ChargeRows {
  private let parts: [Part]
  /// The next row of each part, by its time.
  private var heads: Heap<(milliseconds: Int64, part: Int)>

  /// A part of the rows and the bytes of it that were read ahead.
  private final class Part {
    private let spill: ChargeSpill
    private var rest: Range<Int>
    private let pieceSize: Int
    private var bytes: [UInt8] = []
    /// Start and length of the current row.
    private var (start, count) = (0, 0)
    private(set) var milliseconds: Int64 = 0

    init(_ extent: Range<Int>, of spill: ChargeSpill, pieceSize: Int) {
      (rest, self.spill, self.pieceSize) = (extent, spill, pieceSize)
    }

    /// Advances to the next row; returns whether there is one.
    func advance() throws(SubledgerError) -> Bool {
      start += count
      guard start < bytes.count || !rest.isEmpty else { return false }
      try hold(headerSize)
      (milliseconds, count) = bytes.withUnsafeBytes { bytes in
        (
          bytes.loadUnaligned(fromByteOffset: start, as: Int64.self),
          Int(bytes.loadUnaligned(fromByteOffset: start + 8, as: Int64.self))
        )
      }
      start += headerSize
      try hold(count)
      return true
    }

    /// Reads on when fewer than `size` bytes are left.
    private func hold(_ size: Int) throws(SubledgerError) {
      guard bytes.count - start < size else { return }
      bytes.removeSubrange(..<start)
      start = 0
      try spill.read(&rest, max(pieceSize, size), to: &bytes)
    }

    func withRow<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
      try bytes.withUnsafeBytes { bytes in
        try body(UnsafeRawBufferPointer(rebasing: bytes[start..<start + count]))
      }
    }
  }

  init(
    _ extents: [Range<Int>], of spill: ChargeSpill, separator: UInt8
  ) throws(SubledgerError) {
    let pieceSize = max(1 << 12, min(1 << 18, (1 << 23) / extents.count))
    let parts = extents.map { Part($0, of: spill, pieceSize: pieceSize) }
    heads = Heap { left, right in
      guard left.milliseconds == right.milliseconds else {
        return left.milliseconds < right.milliseconds
      }
      return parts[left.part].withRow { row in
        parts[right.part].withRow { precedes(row, $0, separator) }
      }
    }
    self.parts = parts
    for (index, part) in parts.enumerated() where try part.advance() {
      heads.add((part.milliseconds, index))
    }
  }

  /// Offers the next row to `take`; returns whether there was one and `take` consumed it.
  mutating func takeFirst(_ take: (UnsafeRawBufferPointer) throws -> Bool) throws -> Bool {
    guard let head = heads.first else { return false }
    let part = parts[head.part]
    guard try part.withRow(take) else { return false }
    if try part.advance() {
      heads.replaceFirst(by: (part.milliseconds, head.part))
    } else {
      _ = heads.removeFirst()
    }
    return true
  }
}

/// Bytes before a row: its time in milliseconds and its length.
private let headerSize = 16

/// Bytes that are written at once.
private let pieceSize = 1 << 16
