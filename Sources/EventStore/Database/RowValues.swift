public import Domain

// Cases that rows hold as numbers or texts. An unknown one is damage: leaving out its row would
// change numbers silently.

extension Statement {
  func value<Value: RawRepresentable>(_ column: Int32) throws(SubledgerError) -> Value
  where Value.RawValue == UInt8 {
    try known(UInt8(exactly: int64(column)).flatMap(Value.init(rawValue:)), column)
  }

  func value<Value: RawRepresentable>(_ column: Int32) throws(SubledgerError) -> Value
  where Value.RawValue == String {
    try known(Value(rawValue: text(column)), column)
  }

  /// The provider whose number is in a column.
  ///
  /// - Throws: `SubledgerError` of kind `damagedInput` if the number is unknown.
  public func provider(_ column: Int32) throws(SubledgerError) -> Provider { try value(column) }

  /// The symbol in a column.
  ///
  /// - Throws: `SubledgerError` of kind `damagedInput` if the number is unknown.
  public func symbol(_ column: Int32) throws(SubledgerError) -> StringID {
    try known(StringID(exactly: int64(column)), column)
  }

  /// Provider, app, store and product from a column on.
  func productKey(_ column: Int32) throws(SubledgerError) -> ProductKey {
    try ProductKey(
      provider: value(column), app: symbol(column + 1), store: value(column + 2),
      product: symbol(column + 3))
  }

  private func known<Value>(
    _ value: Value?, _ column: Int32
  ) throws(SubledgerError) -> Value {
    guard let value else {
      throw SubledgerError.damagedLedger(
        "cannot read\(name(of: column)) of the ledger: unknown \(Value.self)")
    }
    return value
  }
}

// Moments, days, months and places, which rows hold as numbers.

extension Statement {
  /// The instant whose milliseconds are in a column.
  @inline(__always)
  public func instant(_ column: Int32) -> Instant { Instant(milliseconds: int64(column)) }

  @inline(__always)
  func optionalInstant(_ column: Int32) -> Instant? {
    optionalInt64(column).map(Instant.init(milliseconds:))
  }

  /// The day whose number is in a column.
  public func day(_ column: Int32) -> Day { Day(number: Int32(truncatingIfNeeded: int64(column))) }

  /// The month whose number is in a column.
  public func month(_ column: Int32) -> Month {
    Month(number: Int32(truncatingIfNeeded: int64(column)))
  }

  /// Archive, line and offset from a column on.
  func provenance(_ column: Int32) -> Provenance {
    Provenance(
      archive: Int32(truncatingIfNeeded: int64(column)), line: int64(column + 1),
      byteOffset: int64(column + 2))
  }
}
