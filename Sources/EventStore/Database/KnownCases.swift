public import Domain

// Cases that rows hold as numbers or texts. An unknown one is damage: leaving out its row would
// change numbers silently.

extension Statement {
  /// The case whose raw value is in a column.
  func value<Value: RawRepresentable>(_ column: Int32) throws(LedgerError) -> Value
  where Value.RawValue == UInt8 {
    try known(UInt8(exactly: int64(column)).flatMap(Value.init(rawValue:)))
  }

  /// The case whose raw value is in a column.
  func value<Value: RawRepresentable>(_ column: Int32) throws(LedgerError) -> Value
  where Value.RawValue == String {
    try known(Value(rawValue: text(column)))
  }

  func symbol(_ column: Int32) throws(LedgerError) -> StringID {
    try known(StringID(exactly: int64(column)))
  }

  private func known<Value>(_ value: Value?) throws(LedgerError) -> Value {
    guard let value else {
      throw LedgerError(.corrupt, "cannot read a row of the ledger: unknown \(Value.self)")
    }
    return value
  }
}

extension LedgerRow {
  /// The provider whose number is in column `index` (from 0).
  ///
  /// - Throws: `LedgerError` of kind `corrupt` if the number is unknown.
  public func provider(_ index: Int) throws(LedgerError) -> Provider {
    try statement.value(Int32(index))
  }

  /// The symbol in column `index` (from 0).
  ///
  /// - Throws: `LedgerError` of kind `corrupt` if the number is unknown.
  public func symbol(_ index: Int) throws(LedgerError) -> StringID {
    try statement.symbol(Int32(index))
  }
}
