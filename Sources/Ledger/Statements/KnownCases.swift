public import Vocabulary

// Cases that rows hold as numbers or words. One that nobody knows is damage: a row that is left out
// would be missing from numbers without a word.

extension RawStatement {
  func provider(_ column: Int32) throws(LedgerError) -> Provider {
    try known(UInt8(exactly: int64(column)).flatMap(Provider.init(rawValue:)), "provider")
  }

  func store(_ column: Int32) throws(LedgerError) -> Store {
    try known(UInt8(exactly: int64(column)).flatMap(Store.init(rawValue:)), "store")
  }

  func kind(_ column: Int32) throws(LedgerError) -> ArchiveKind {
    try known(ArchiveKind(rawValue: text(column)), "kind of archive")
  }

  func status(_ column: Int32) throws(LedgerError) -> ArchiveStatus {
    try known(ArchiveStatus(rawValue: text(column)), "status of an archive")
  }

  func deed(_ column: Int32) throws(LedgerError) -> Act.Deed {
    try known(Act.Deed(rawValue: text(column)), "deed")
  }

  private func known<Value>(_ value: Value?, _ noun: String) throws(LedgerError) -> Value {
    guard let value else {
      throw LedgerError(
        .corrupt, "cannot read a row of the ledger: it names no known \(noun)")
    }
    return value
  }
}

extension LedgerRow {
  /// The provider whose number is in column `index` (from 0).
  ///
  /// - Throws: `LedgerError` of kind `corrupt` when the number is that of none.
  public func provider(_ index: Int) throws(LedgerError) -> Provider {
    try statement.provider(Int32(index))
  }
}
