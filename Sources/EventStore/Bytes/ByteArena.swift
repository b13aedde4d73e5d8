/// Many small pieces of bytes that never change and are released together.
///
/// They follow each other in blocks, which never move, and are addressed by offset, so that any
/// thread can read a copy of the arena.
struct ByteArena {
  struct Slot {
    let block: Int32
    let offset: Int32
    let count: Int32

    /// Returns the piece, from the bytes of its block.
    @inline(__always)
    func piece(of block: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
      let start = Int(offset)
      return UnsafeRawBufferPointer(rebasing: block[start..<start + Int(count)])
    }
  }

  private var full: [[UInt8]] = []
  private var last = ByteWriter()
  private var sizeOfFull = 0

  /// Size from which a block is full, in bytes.
  private static let blockSize = 1 << 20
  /// Reserve at the end of a block for its last piece, unless that is unusually long.
  private static let slack = 4096

  /// All allocated bytes.
  var size: Int { sizeOfFull + last.bytes.capacity }

  mutating func keep(_ bytes: UnsafeRawBufferPointer) -> Slot { keep { $0.put(bytes: bytes) } }

  /// Stores what `write` appends to the given writer, which already contains other pieces.
  @inline(__always)
  mutating func keep(_ write: (inout ByteWriter) -> Void) -> Slot {
    if last.bytes.count >= Self.blockSize { beginBlock() }
    let start = last.bytes.count
    write(&last)
    return Slot(
      block: Int32(full.count), offset: Int32(start), count: Int32(last.bytes.count - start))
  }

  private mutating func beginBlock() {
    full.append(last.bytes)
    sizeOfFull += last.bytes.capacity
    last = ByteWriter(capacity: Self.blockSize + Self.slack)
  }

  @inline(__always)
  func withBytes<Value>(
    at place: Slot, _ body: (UnsafeRawBufferPointer) throws -> Value
  ) rethrows -> Value {
    let block = Int(place.block)
    let bytes = block < full.count ? full[block] : last.bytes
    return try bytes.withUnsafeBytes { try body(place.piece(of: $0)) }
  }

  func withPieces<Value>(_ body: (Pieces) throws -> Value) rethrows -> Value {
    func open(_ blocks: [UnsafeRawBufferPointer]) throws -> Value {
      guard blocks.count <= full.count else { return try body(Pieces(blocks: blocks)) }
      let next = blocks.count < full.count ? full[blocks.count] : last.bytes
      return try next.withUnsafeBytes { try open(blocks + [$0]) }
    }
    return try open([])
  }

  /// The pieces of an arena, valid only inside the call that receives them.
  struct Pieces {
    let blocks: [UnsafeRawBufferPointer]

    @inline(__always)
    subscript(place: Slot) -> UnsafeRawBufferPointer {
      place.piece(of: blocks[Int(place.block)])
    }
  }
}
