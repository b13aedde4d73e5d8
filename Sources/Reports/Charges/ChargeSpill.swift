internal import Domain
internal import Formats
internal import Glibc

/// Rows of the list of charges in an unlinked file, each part of them sorted.
///
/// Rows arrive by subscription but are printed by time. All of them, even those of one day, can
/// exceed memory.
struct ChargeSpill {
  /// The extent in the file of one month of one part.
  struct Extent {
    var offset: Int
    var count: Int
  }

  private let file: OpenFile
  private let path: String
  private var size = 0
  private var extents: [Month: [Extent]] = [:]

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
    var buffer: [UInt8] = []
    buffer.reserveCapacity(part.bytes.count + part.entries.count * 16)
    var month: Month?
    var start = 0
    func end(_ extents: inout [Month: [Extent]], _ count: Int, _ size: Int) {
      guard let month, count > start else { return }
      extents[month, default: []].append(Extent(offset: size + start, count: count - start))
    }
    var day: Day?
    for entry in part.entries {
      if entry.day != day {
        day = entry.day
        if entry.day.month != month {
          end(&extents, buffer.count, size)
          (month, start) = (entry.day.month, buffer.count)
        }
      }
      withUnsafeBytes(of: entry.milliseconds) { buffer.append(contentsOf: $0) }
      withUnsafeBytes(of: Int64(entry.count)) { buffer.append(contentsOf: $0) }
      buffer.append(contentsOf: part.bytes[entry.start..<entry.start + entry.count])
    }
    end(&extents, buffer.count, size)
    guard buffer.withUnsafeBytes(file.write) else {
      throw .system("write the file", path, at: "the ledger")
    }
    size += buffer.count
  }

  /// The rows of a month, written in `dialect`; nil when it has none.
  func rows(of month: Month, in dialect: CSVDialect) throws(SubledgerError) -> ChargeRows? {
    guard let extents = extents[month] else { return nil }
    return try ChargeRows(extents, of: self, separator: UInt8(ascii: dialect.separator))
  }

  /// Appends at most `count` bytes from the start of `extent` to `bytes`, and removes them from
  /// `extent`.
  func read(
    _ extent: inout Extent, _ count: Int, to bytes: inout [UInt8]
  ) throws(SubledgerError) {
    let (start, end) = (bytes.count, bytes.count + min(count, extent.count))
    bytes.append(contentsOf: repeatElement(0, count: end - start))
    var done = start
    while done < end {
      let read = bytes.withUnsafeMutableBytes { bytes in
        file.read(
          into: UnsafeMutableRawBufferPointer(rebasing: bytes[done..<end]),
          at: extent.offset + done - start)
      }
      guard let read, read > 0 else { throw .system("read", path, at: "the ledger") }
      done += read
    }
    extent.offset += end - start
    extent.count -= end - start
  }
}

/// The rows of a month in the order of the list, merged from the parts.
struct ChargeRows {
  private let parts: [Part]
  private var heads: Heap<Head>

  /// The next row of a part, by its time.
  private struct Head {
    let milliseconds: Int64
    let part: Int
  }

  /// A part of the rows and the bytes of it that were read ahead.
  private final class Part {
    private let spill: ChargeSpill
    private var rest: ChargeSpill.Extent
    private let pieceSize: Int
    private var bytes: [UInt8] = []
    /// Start and length of the current row.
    private var (start, count) = (0, 0)
    private(set) var milliseconds: Int64 = 0

    init(_ extent: ChargeSpill.Extent, of spill: ChargeSpill, pieceSize: Int) {
      (rest, self.spill, self.pieceSize) = (extent, spill, pieceSize)
    }

    /// Advances to the next row; returns whether there is one.
    func advance() throws(SubledgerError) -> Bool {
      start += count
      guard start < bytes.count || rest.count > 0 else { return false }
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
    _ extents: [ChargeSpill.Extent], of spill: ChargeSpill, separator: UInt8
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
      heads.add(Head(milliseconds: part.milliseconds, part: index))
    }
  }

  /// Calls `take` with the next row, which is consumed if `take` returns true.
  ///
  /// Returns false when no row is left or `take` returns false.
  mutating func takeFirst(_ take: (UnsafeRawBufferPointer) throws -> Bool) throws -> Bool {
    guard let head = heads.first, try parts[head.part].withRow(take) else { return false }
    if try parts[head.part].advance() {
      let milliseconds = parts[head.part].milliseconds
      heads.replaceFirst(by: Head(milliseconds: milliseconds, part: head.part))
    } else {
      _ = heads.removeFirst()
    }
    return true
  }
}

/// Bytes before a row: its time in milliseconds and its length.
private let headerSize = 16
