import Testing

@testable import EventStore

@Suite("An arena of byte sequences") struct ByteArenaTests {
  /// Pieces of all lengths with different bytes, some longer than a block.
  private static let pieces: [[UInt8]] = (0..<400).map { number in
    let length = number % 97 == 0 ? 3 << 20 : number * 37 % 9_000
    return [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: length)
  }

  @Test("Every piece is read back, singly and all at once, even from a copy of the arena")
  func pieces() {
    var arena = ByteArena()
    var places: [ByteArena.Slot] = []
    for piece in Self.pieces { places.append(piece.withUnsafeBytes { arena.keep($0) }) }
    let copy = arena
    _ = [1, 2, 3].withUnsafeBytes { arena.keep($0) }
    for (place, piece) in zip(places, Self.pieces) {
      #expect(arena.withBytes(at: place) { Array($0) } == piece)
    }
    copy.withPieces { pieces in
      for (place, piece) in zip(places, Self.pieces) { #expect(Array(pieces[place]) == piece) }
    }
  }

  @Test("An arena reports its size, and can store an empty piece")
  func size() {
    var arena = ByteArena()
    #expect(arena.size == 0)
    let nothing = arena.keep(UnsafeRawBufferPointer(start: nil, count: 0))
    #expect(arena.withBytes(at: nothing) { $0.count } == 0)
    for piece in Self.pieces { _ = piece.withUnsafeBytes { arena.keep($0) } }
    #expect(arena.size >= Self.pieces.reduce(0) { $0 + $1.count })
  }
}
