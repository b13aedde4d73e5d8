import EventStore

extension Workers {
  /// Makes rows in parallel and calls `write` with the rows of each piece, in order.
  func make<Rows: Sendable>(
    _ pieces: [RowPiece<Rows>], write: (Rows) throws -> Void
  ) throws {
    try run(
      pieces, { piece, send in _ = send(Result { try piece.rows() }) },
      take: { try write($1.get()) })
  }
}
