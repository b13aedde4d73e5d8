public import Domain

/// Rows of the list of charges, as one worker prints them.
public struct ChargePart: Sendable {
  struct Entry: Sendable {
    var milliseconds: Int64
    /// The day in the report's time zone.
    var day: Day
    var start: Int
    var count: Int
  }

  /// The rows one after another, without line ends.
  var bytes: [UInt8] = []
  var entries: [Entry] = []
  /// What the rows add to the sums of each month.
  var totals: [Month: ChargeTotals] = [:]
  /// How often each row of the published list is gone, by the fingerprint of its bytes.
  var removed: [Month: [Int64: Int]] = [:]
  var line: CSVLine

  /// No rows yet, to be printed in `dialect`.
  public init(_ dialect: CSVDialect = .rfc4180) { line = CSVLine(dialect) }

  /// Whether the rows are so many, 4 MiB, that they are better put aside.
  public var isLarge: Bool { bytes.count > 1 << 22 }

  /// Puts the rows of `now` into the list in the place of those of `before`.
  public mutating func add(_ now: ChargePart, insteadOf before: ChargePart) {
    var kept: [Int64: Int] = [:]
    for entry in before.entries { kept[before.fingerprint(of: entry), default: 0] += 1 }
    for entry in now.entries {
      if kept.takeOne(of: now.fingerprint(of: entry)) { continue }
      var copy = entry
      copy.start = bytes.count
      bytes.append(contentsOf: now.bytes[entry.start..<entry.start + entry.count])
      entries.append(copy)
    }
    // Rows that stay are counted in both.
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

  /// Calls `body` at every row, with its day in the report's time zone.
  public func forEachRow(_ body: (Day, ArraySlice<UInt8>) throws -> Void) rethrows {
    for entry in entries { try body(entry.day, bytes[entry.start..<entry.start + entry.count]) }
  }

  private func fingerprint(of entry: Entry) -> Int64 {
    bytes.withUnsafeBytes { Fingerprint.of($0.row(entry)) }
  }

  /// Puts the rows in the order of the list.
  public mutating func sort() {
    let separator = line.separator
    bytes.withUnsafeBytes { bytes in
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
  /// Takes away one of what is counted; false when none is left.
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

/// Whether a row comes before another one: by time, then by the cells behind it.
///
/// Times are texts of one width but for their milliseconds, without which a time is the earlier
/// one; a cell that ends is before one that goes on.
func precedes(
  _ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer, _ separator: UInt8
) -> Bool {
  let count = min(left.count, right.count)
  for index in 0..<count where left[index] != right[index] {
    func rank(_ byte: UInt8) -> UInt8 {
      byte == separator || byte == UInt8(ascii: "Z") && index == 19 ? 0 : byte
    }
    return rank(left[index]) < rank(right[index])
  }
  return left.count < right.count
}
