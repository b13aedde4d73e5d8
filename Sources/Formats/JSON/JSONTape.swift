internal import Domain

/// The number of a value or object key on a tape; 0 is the whole value.
public typealias JSONNode = Int32

/// One JSON value as a flat list of its parts, strictly by RFC 8259, without Strings.
///
/// A tape is reused and keeps its memory, so that once warm it allocates nothing. It refers to the
/// bytes passed to `read`, which must outlive its use; every buffer it returns is valid until the
/// next `read` or the end of the tape. A copy shares the memory of its original: keep one tape per
/// place of use. If an object repeats a key, the last one counts.
public struct JSONTape {
  // Limits beyond which a value is rejected: far more than any provider sends.

  /// Nesting depth of containers, including the outermost.
  static let depthMax = 64
  /// Bytes in one number's text.
  static let numberBytesMax = 4_096

  private let nodesMax: Int
  private let memory = TapeMemory()
  private var nodes: UnsafeMutablePointer<TapeNode>
  private var arena: UnsafeMutableRawPointer
  private var count: UInt32 = 0
  private var input = UnsafeRawBufferPointer(start: nil, count: 0)

  /// An empty tape for at most `nodesMax` values and object keys together; each takes 16 bytes of
  /// memory while its line is read.
  ///
  /// 256 are always allowed; more than 2²⁷ would not fit the fields for their numbers.
  public init(nodesMax: Int = 2_097_152) {
    self.nodesMax = nodesMax
    nodes = memory.nodes
    arena = memory.arena
  }

  /// Reads the one value at `start`, which white space may precede.
  ///
  /// - Parameters:
  ///   - bytes: the input, at most 4 GiB; bytes after the value are not read.
  ///   - start: offset of the value or of white space before it.
  /// - Returns: the offset just after the value.
  /// - Throws: the first problem; the tape is then empty.
  public mutating func read(
    _ bytes: UnsafeRawBufferPointer, from start: Int
  ) throws(JSONProblem) -> Int {
    precondition(start >= 0 && start <= bytes.count, "the value starts inside the bytes")
    precondition(bytes.count <= Int(UInt32.max), "offsets fit four bytes")
    count = 0
    input = bytes
    memory.clear()
    guard let base = bytes.baseAddress, start < bytes.count else {
      throw JSONProblem(offset: bytes.count, cause: .truncated)
    }
    var scanner = TapeScanner(
      base: base.assumingMemoryBound(to: UInt8.self), end: bytes.count, nodesMax: nodesMax,
      memory: memory)
    let end = try scanner.value(at: start)
    count = UInt32(scanner.count)
    nodes = memory.nodes
    arena = memory.arena
    return end
  }

  /// The kind of `node`.
  public func kind(_ node: JSONNode) -> JSONKind {
    // Every tag is written from a JSONKind, so the fallback is never taken.
    JSONKind(rawValue: UInt8(truncatingIfNeeded: self[node].tag & 7)) ?? .null
  }

  /// The range of the raw bytes in the input: strings without their quotes, all else whole.
  public func span(_ node: JSONNode) -> Range<Int> {
    let entry = self[node]
    return Range(uncheckedBounds: (Int(entry.start), Int(entry.end)))
  }

  /// The unescaped text of a string; the raw text of all other values.
  public func bytes(_ node: JSONNode) -> UnsafeRawBufferPointer {
    let entry = self[node]
    if entry.tag & TapeNode.escapedFlag != 0 {
      let place = Int(entry.tag >> TapeNode.payloadShift)
      let length = Int((arena + place).loadUnaligned(as: UInt32.self))
      return UnsafeRawBufferPointer(start: arena + place + 4, count: length)
    }
    return UnsafeRawBufferPointer(
      start: input.baseAddress.map { $0 + Int(entry.start) }, count: Int(entry.end - entry.start))
  }

  /// An array's first element or an object's first key; nil when there is none.
  public func firstChild(_ node: JSONNode) -> JSONNode? {
    count(node) > 0 ? node + 1 : nil
  }

  /// The next element or key; nil at the end.
  public func next(_ node: JSONNode) -> JSONNode? {
    let next = self[node].next
    return next < 0 ? nil : next
  }

  /// An array's elements or an object's keys, in order.
  public func children(of node: JSONNode) -> JSONChildren {
    JSONChildren(tape: self, following: firstChild(node))
  }

  /// The value of the key `key`.
  public func value(ofKey key: JSONNode) -> JSONNode { key + 1 }

  /// The number of elements or members of `node`, including repeated keys; 0 for other nodes.
  public func count(_ node: JSONNode) -> Int {
    let tag = self[node].tag
    return tag & 7 <= JSONKind.array.rawValue ? Int(tag >> TapeNode.payloadShift) : 0
  }

  /// The value of an object's member `key`; nil when `object` is not an object or lacks the member.
  ///
  /// Compares every key; to find many members at once, use `fields`.
  public func member(_ object: JSONNode, _ key: String) -> JSONNode? {
    guard kind(object) == .object else { return nil }
    var found: JSONNode?
    for name in children(of: object) where key.isExactly(bytes(name)) {
      found = value(ofKey: name)
    }
    return found
  }

  /// The text of `node` as a String.
  public func string(_ node: JSONNode) -> String { String(decoding: bytes(node), as: UTF8.self) }

  private subscript(node: JSONNode) -> TapeNode {
    precondition(UInt32(bitPattern: node) < count, "the node is one of the value read last")
    return nodes[Int(node)]
  }
}

/// The elements of an array or the keys of an object; valid as long as the tape's other values.
public struct JSONChildren: Sequence, IteratorProtocol {
  let tape: JSONTape
  var following: JSONNode?

  /// The next node; nil at the end.
  public mutating func next() -> JSONNode? {
    guard let node = following else { return nil }
    following = tape.next(node)
    return node
  }
}
