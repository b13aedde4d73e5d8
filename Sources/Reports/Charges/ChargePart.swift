public import Domain

/// Rows of the list of charges, as one worker prints them.
public struct ChargePart: Sendable {
  struct Entry: Codable, Sendable {
    var milliseconds: Int64
    /// The day in the report's time zone.
    var day: Day
    var start: Int
    var count: Int
  }

  /// The rows in sequence.
  var lines: CSVLine
  var entries: [Entry] = []
  /// What the rows add to the sums of each month.
  var totals: [Month: ChargeTotals] = [:]
  /// How often each row of the published list is removed, by the fingerprint of its bytes.
  var removed: [Month: [Int64: Int]] = [:]

  /// An empty part whose rows are printed in `dialect`.
  public init(_ dialect: CSVDialect = .rfc4180) { lines = CSVLine(dialect) }

  /// Removes the rows and keeps their memory.
  public mutating func removeAll() {
    lines.removeAll()
    entries.removeAll(keepingCapacity: true)
    totals.removeAll(keepingCapacity: true)
    removed.removeAll()
  }

  var bytes: [UInt8] { lines.buffer }

  /// Starts a row; returns its place.
  mutating func startRow() -> Int {
    lines.startLine()
    return lines.buffer.count
  }

  mutating func endRow(from start: Int, _ time: Instant, _ day: Day) {
    entries.append(
      Entry(
        milliseconds: time.milliseconds, day: day, start: start,
        count: lines.buffer.count - start))
  }

  /// Whether the rows exceed 4 MiB, so that they should be spilled to disk.
  public var isLarge: Bool { bytes.count > 1 << 22 }

  /// Adds the rows of `now` and removes those of `before`.
  public mutating func add(_ now: ChargePart, insteadOf before: ChargePart) {
    var kept: [Int64: Int] = [:]
    for entry in before.entries { kept[before.fingerprint(of: entry), default: 0] += 1 }
    for entry in now.entries {
      if kept.takeOne(of: now.fingerprint(of: entry)) { continue }
      var copy = entry
      copy.start = startRow()
      now.bytes.withUnsafeBytes { lines.add(cells: $0.row(entry)) }
      entries.append(copy)
    }
    // Unchanged rows are counted on both sides.
    for entry in before.entries {
      let fingerprint = before.fingerprint(of: entry)
      guard kept.takeOne(of: fingerprint) else { continue }
      removed[entry.day.month, default: [:]][fingerprint, default: 0] += 1
    }
    for (month, sums) in now.totals { totals[month, default: ChargeTotals()].add(sums) }
    for (month, sums) in before.totals {
      totals[month, default: ChargeTotals()].add(sums, times: -1)
    }
  }

  /// Calls `body` for every row with its day in the report's time zone.
  public func forEachRow(_ body: (Day, ArraySlice<UInt8>) throws -> Void) rethrows {
    for entry in entries { try body(entry.day, bytes[entry.start..<entry.start + entry.count]) }
  }

  private func fingerprint(of entry: Entry) -> Int64 {
    bytes.withUnsafeBytes { Fingerprint.of($0.row(entry)) }
  }

  /// Sorts the rows in the order of the list.
  public mutating func sort() {
    let separator = lines.separator
    lines.buffer.withUnsafeBytes { bytes in
      entries.sort { left, right in
        guard left.milliseconds == right.milliseconds else {
          return left.milliseconds < right.milliseconds
        }
        return precedes(bytes.row(left), bytes.row(right), separator)
      }
    }
  }
}

extension [Int64: Int] {
  /// Decrements the count of `key`; returns false when it is already 0.
  mutating func takeOne(of key: Int64) -> Bool {
    guard let count = self[key] else { return false }
    self[key] = count > 1 ? count - 1 : nil
    return true
  }
}

extension UnsafeRawBufferPointer {
  func row(_ entry: ChargePart.Entry) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: self[entry.start..<entry.start + entry.count])
  }
}

/// Whether a row sorts before another: by time, then by the texts of the cells after it.
///
/// Times are texts of equal width except for optional milliseconds: a time without them is earlier.
/// A cell that ends sorts before one that continues.
func precedes(
  _ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer, _ separator: UInt8
) -> Bool {
  var left = CellRanks(row: left, separator)
  var right = CellRanks(row: right, separator)
  while let byte = left.next() {
    guard let other = right.next() else { return false }
    if byte != other { return byte < other }
  }
  return right.next() != nil
}

/// The bytes of a row's texts without quotes, and 0 where a cell or a time's seconds end.
private struct CellRanks {
  private let row: UnsafeRawBufferPointer
  private let separator: UInt8
  private var place = 0
  private var isQuoted = false

  init(row: UnsafeRawBufferPointer, _ separator: UInt8) {
    (self.row, self.separator) = (row, separator)
  }

  mutating func next() -> UInt8? {
    while place < row.count {
      let byte = row[place]
      place += 1
      if byte == UInt8(ascii: "\"") {
        // Two quotes inside a quoted cell are one quote of its text.
        guard isQuoted, place < row.count, row[place] == byte else {
          isQuoted.toggle()
          continue
        }
        place += 1
        return byte
      }
      let isEnd = byte == separator && !isQuoted || byte == UInt8(ascii: "Z") && place == 20
      return isEnd ? 0 : byte
    }
    return nil
  }
}
