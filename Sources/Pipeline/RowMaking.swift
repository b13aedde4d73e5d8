import EventStore

extension Workers {
  /// Makes rows in parallel and calls `write` at those of each piece, in their order.
  func make<Rows: Sendable>(
    _ pieces: [RowPiece<Rows>], write: (Rows) throws -> Void
  ) throws {
    try run(
      pieces, { piece, tell in _ = tell(Result { try piece.rows() }) },
      take: { try write($1.get()) })
  }
}
