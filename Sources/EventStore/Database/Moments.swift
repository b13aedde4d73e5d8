public import Domain

// Moments, days and months, which rows hold as numbers.

extension Statement {
  @inline(__always)
  func instant(_ column: Int32) -> Instant { Instant(milliseconds: int64(column)) }

  @inline(__always)
  func optionalInstant(_ column: Int32) -> Instant? {
    optionalInt64(column).map(Instant.init(milliseconds:))
  }

  func day(_ column: Int32) -> Day { Day(number: Int32(truncatingIfNeeded: int64(column))) }

  func month(_ column: Int32) -> Month { Month(number: Int32(truncatingIfNeeded: int64(column))) }
}

extension LedgerRow {
  /// The instant whose milliseconds are in column `index` (from 0).
  public func instant(_ index: Int) -> Instant { statement.instant(Int32(index)) }

  /// The day whose number is in column `index` (from 0).
  public func day(_ index: Int) -> Day { statement.day(Int32(index)) }

  /// The month whose number is in column `index` (from 0).
  public func month(_ index: Int) -> Month { statement.month(Int32(index)) }
}
