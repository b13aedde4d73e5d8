/// Some of many rows that are written one after another.
///
/// To make rows takes about as long as to write them, and all of them together would take too much
/// memory: they are made piece by piece, on whatever thread has the time.
public struct RowPiece<Rows: Sendable>: Sendable {
  private let make: @Sendable () throws -> Rows

  init(_ make: @escaping @Sendable () throws -> Rows) { self.make = make }

  /// Makes the rows; fails as the ledger does.
  public func rows() throws -> Rows { try make() }
}
