import Ledger

extension Workers {
  /// Makes the rows of facts in parallel and calls `write` at those of each piece, in their order.
  func make(_ pieces: [FactPiece], write: (CellRows) throws -> Void) throws {
    try run(
      pieces, { piece, tell in _ = tell(Result { try piece.rows() }) },
      take: { try write($1.get()) })
  }
}
