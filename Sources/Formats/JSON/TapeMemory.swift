/// One value or object key on the tape.
struct TapeNode {
  /// Offset of the raw text; a string's text begins after its quote.
  var start: UInt32
  /// Offset after the raw text; a string's text ends at its quote.
  var end: UInt32
  /// The next element or key; -1 for none; an open container stores its parent here.
  var next: JSONNode
  /// Bits 0–2: kind; bit 3: escaped; above: number of children, or the text's offset in the arena.
  var tag: UInt32

  static let escapedFlag: UInt32 = 8
  static let payloadShift: UInt32 = 4
}

/// The memory of a tape: its nodes, and the arena for unescaped strings.
///
/// A text in the arena is its length in four bytes, followed by its bytes.
final class TapeMemory {
  private(set) var nodes: UnsafeMutablePointer<TapeNode>
  private(set) var nodeCapacity: Int
  private(set) var arena: UnsafeMutableRawPointer
  private var arenaCapacity: Int
  private var arenaCount = 0

  /// Memory kept between lines; any more is freed before the next line is read.
  private static let nodesKept = 16_384
  private static let arenaKept = 262_144
  /// The largest offset that fits the payload of a tag.
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

  /// Removes the last value, and frees memory that only a huge value needs.
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

  /// Writes `text`, whose escapes were validated before, unescaped.
  ///
  /// - Returns: its offset in the arena; nil when the arena is full.
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
