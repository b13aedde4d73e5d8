/// One value or object key on the tape.
struct TapeNode {
  /// Offset of the raw text; a string's begins behind its quote.
  var start: UInt32
  /// Offset behind the raw text; a string's ends at its quote.
  var end: UInt32
  /// The next element or key; -1 for none; an open container keeps its parent here.
  var next: JSONNode
  /// Bits 0–2 the kind, bit 3 whether escaped, above: children, or the text's place in the arena.
  var tag: UInt32

  static let escapedFlag: UInt32 = 8
  static let payloadShift: UInt32 = 4
}

/// The memory behind a tape: its nodes, and the arena that holds strings without their escapes.
///
/// A text in the arena is its length in four bytes, then its bytes.
final class TapeMemory {
  private(set) var nodes: UnsafeMutablePointer<TapeNode>
  private(set) var nodeCapacity: Int
  private(set) var arena: UnsafeMutableRawPointer
  private var arenaCapacity: Int
  private var arenaCount = 0

  /// Memory kept from line to line; more is freed before the next line is read.
  private static let nodesKept = 16_384
  private static let arenaKept = 262_144
  /// Offsets into the arena fit the payload of a tag.
  static let arenaMax = 1 << 28

  init() {
    nodeCapacity = 256
    nodes = .allocate(capacity: nodeCapacity)
    arenaCapacity = 1_024
    arena = .allocate(byteCount: arenaCapacity, alignment: 8)
  }

  deinit {
    nodes.deallocate()
    arena.deallocate()
  }

  /// Forgets the last value, and lets go of memory that only a huge one needs.
  func clear() {
    arenaCount = 0
    if nodeCapacity > Self.nodesKept { resizeNodes(to: Self.nodesKept, keeping: 0) }
    if arenaCapacity > Self.arenaKept { resizeArena(to: Self.arenaKept) }
  }

  /// Reserves capacity for more nodes, at most `limit`; false at the limit.
  func growNodes(limit: Int) -> Bool {
    guard nodeCapacity < limit else { return false }
    resizeNodes(to: min(nodeCapacity * 2, limit), keeping: nodeCapacity)
    return true
  }

  /// Writes `text` without its escapes, which were checked before.
  ///
  /// - Returns: its place in the arena; nil when the arena is full.
  func unescape(_ text: UnsafeBufferPointer<UInt8>) -> UInt32? {
    let place = arenaCount
    let needed = place + 4 + text.count
    guard needed <= Self.arenaMax else { return nil }
    if needed > arenaCapacity { resizeArena(to: max(needed, arenaCapacity * 2)) }
    let target = (arena + place + 4).assumingMemoryBound(to: UInt8.self)
    let length = StringText.unescape(text, into: target)
    (arena + place).storeBytes(of: UInt32(length), as: UInt32.self)
    arenaCount = place + 4 + length
    return UInt32(place)
  }

  private func resizeNodes(to capacity: Int, keeping count: Int) {
    let resized = UnsafeMutablePointer<TapeNode>.allocate(capacity: capacity)
    resized.initialize(from: nodes, count: count)
    nodes.deallocate()
    nodes = resized
    nodeCapacity = capacity
  }

  private func resizeArena(to capacity: Int) {
    let resized = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 8)
    resized.copyMemory(from: arena, byteCount: arenaCount)
    arena.deallocate()
    arena = resized
    arenaCapacity = capacity
  }
}
