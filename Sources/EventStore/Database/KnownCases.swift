public import Domain

// Cases that rows hold as numbers or words. One that nobody knows is damage: a row that is left out
// would be missing from numbers without a word.

extension Statement {
  func provider(_ column: Int32) throws(LedgerError) -> Provider {
    try known(UInt8(exactly: int64(column)).flatMap(Provider.init(rawValue:)), "provider")
  }

  func store(_ column: Int32) throws(LedgerError) -> Store {
    try known(UInt8(exactly: int64(column)).flatMap(Store.init(rawValue:)), "store")
  }

  func environment(_ column: Int32) throws(LedgerError) -> Environment {
    try known(UInt8(exactly: int64(column)).flatMap(Environment.init(rawValue:)), "environment")
  }

  func basis(_ column: Int32) throws(LedgerError) -> AmountBasis {
    try known(
      UInt8(exactly: int64(column)).flatMap(AmountBasis.init(rawValue:)), "basis of an amount")
  }

  func symbol(_ column: Int32) throws(LedgerError) -> StringID {
    try known(StringID(exactly: int64(column)), "word")
  }

  func breakCode(_ column: Int32) throws(LedgerError) -> BreakCode {
    try known(BreakCode(rawValue: text(column)), "code of a break")
  }

  func breakStatus(_ column: Int32) throws(LedgerError) -> BreakStatus {
    try known(BreakStatus(rawValue: text(column)), "status of a break")
  }

  func severity(_ column: Int32) throws(LedgerError) -> Severity {
    try known(Severity(rawValue: text(column)), "severity")
  }

  func kind(_ column: Int32) throws(LedgerError) -> ArchiveKind {
    try known(ArchiveKind(rawValue: text(column)), "kind of archive")
  }

  func status(_ column: Int32) throws(LedgerError) -> ArchiveStatus {
    try known(ArchiveStatus(rawValue: text(column)), "status of an archive")
  }

  func deed(_ column: Int32) throws(LedgerError) -> AuditEntry.AuditAction {
    try known(AuditEntry.AuditAction(rawValue: text(column)), "deed")
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

  /// The symbol in column `index` (from 0).
  ///
  /// - Throws: `LedgerError` of kind `corrupt` when it holds a number that no symbol has.
  public func symbol(_ index: Int) throws(LedgerError) -> StringID {
    try statement.symbol(Int32(index))
  }
}
