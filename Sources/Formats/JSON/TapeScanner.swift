/// One forward pass over a value that writes its tape, without recursion or backtracking.
///
/// `parent` and three words about its children so far describe the open container. When another
/// container opens inside it, they are saved in the nodes, and restored when that closes.
struct TapeScanner {
  private let base: UnsafePointer<UInt8>
  private let end: Int
  private let nodesMax: Int
  private let memory: TapeMemory
  private var nodes: UnsafeMutablePointer<TapeNode>
  private var capacity: Int
  private(set) var count = 0

  private var depth = 0
  /// The container being read; -1 for none.
  private var parent: JSONNode = -1
  private var isObject = false
  /// Its last element or key so far; -1 for none.
  private var previous: JSONNode = -1
  private var children: UInt32 = 0

  init(base: UnsafePointer<UInt8>, end: Int, nodesMax: Int, memory: TapeMemory) {
    self.base = base
    self.end = end
    self.nodesMax = nodesMax
    self.memory = memory
    nodes = memory.nodes
    capacity = memory.nodeCapacity
  }

  mutating func value(at start: Int) throws(JSONProblem) -> Int {
    var here = start
    repeat {
      if isObject { here = try key(at: here) }
      here = try skipped(here)
      let byte = base[here]
      switch byte {
      case UInt8(ascii: "\""): here = try string(at: here)
      case UInt8(ascii: "{"), UInt8(ascii: "["): here = try open(byte, at: here)
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"): here = try number(at: here)
      default: here = try literal(at: here)
      }
    } while try isContinued(&here)
    return here
  }

  @inline(__always)
  private mutating func key(at start: Int) throws(JSONProblem) -> Int {
    var here = try skipped(start)
    guard base[here] == UInt8(ascii: "\"") else {
      throw JSONProblem(offset: here, cause: .keyExpected)
    }
    link()
    here = try skipped(text(at: here))
    guard base[here] == UInt8(ascii: ":") else {
      throw JSONProblem(offset: here, cause: .colonExpected)
    }
    return here + 1
  }

  @inline(__always)
  private mutating func string(at start: Int) throws(JSONProblem) -> Int {
    linkElement()
    return try text(at: start)
  }

  @inline(__always)
  private mutating func number(at start: Int) throws(JSONProblem) -> Int {
    let stop = try NumberText.end(base, from: start, end: end)
    guard stop - start <= JSONTape.numberBytesMax else {
      throw JSONProblem(offset: start, cause: .numberBytes)
    }
    linkElement()
    try append(.number, start, stop)
    return stop
  }

  @inline(never)
  private mutating func literal(at start: Int) throws(JSONProblem) -> Int {
    let kind: JSONKind
    let word: StaticString
    switch base[start] {
    case UInt8(ascii: "t"): (kind, word) = (.true, "true")
    case UInt8(ascii: "f"): (kind, word) = (.false, "false")
    case UInt8(ascii: "n"): (kind, word) = (.null, "null")
    default: throw JSONProblem(offset: start, cause: .valueExpected)
    }
    let stop = start + word.utf8CodeUnitCount
    for here in start..<stop {
      guard here < end else { throw JSONProblem(offset: end, cause: .truncated) }
      guard base[here] == word.utf8Start[here - start] else {
        throw JSONProblem(offset: here, cause: .literal)
      }
    }
    if stop < end, NumberText.isWordByte(base[stop]) {
      throw JSONProblem(offset: stop, cause: .numberEnd)
    }
    linkElement()
    try append(kind, start, stop)
    return stop
  }

  /// Opens a container; `isContinued` closes an empty one.
  @inline(__always)
  private mutating func open(_ byte: UInt8, at start: Int) throws(JSONProblem) -> Int {
    guard depth < JSONTape.depthMax else { throw JSONProblem(offset: start, cause: .depth) }
    linkElement()
    if parent >= 0 { nodes[Int(parent)].tag |= children << TapeNode.payloadShift }
    let kind = byte == UInt8(ascii: "{") ? JSONKind.object : .array
    try append(kind, start, start)
    nodes[count - 1].next = parent
    parent = JSONNode(truncatingIfNeeded: count - 1)
    isObject = kind == .object
    previous = -1
    children = 0
    depth += 1
    return start + 1
  }

  /// Reads the bytes after a value or an opening bracket, and closes the containers that end there.
  ///
  /// - Returns: whether another element or member begins at `here`.
  @inline(__always)
  private mutating func isContinued(_ here: inout Int) throws(JSONProblem) -> Bool {
    while parent >= 0 {
      here = try skipped(here)
      let byte = base[here]
      if byte == (isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) {
        here += 1
        close(before: here)
        continue
      }
      if previous < 0 { return true }
      guard byte == UInt8(ascii: ",") else {
        throw JSONProblem(
          offset: here, cause: isObject ? .memberEndExpected : .elementEndExpected)
      }
      here += 1
      return true
    }
    return false
  }

  @inline(__always)
  private mutating func close(before stop: Int) {
    let closed = Int(parent)
    nodes[closed].end = UInt32(truncatingIfNeeded: stop)
    nodes[closed].tag |= children << TapeNode.payloadShift
    parent = nodes[closed].next
    nodes[closed].next = -1
    depth -= 1
    guard parent >= 0 else { return }
    let tag = nodes[Int(parent)].tag
    nodes[Int(parent)].tag = tag & 7
    children = tag >> TapeNode.payloadShift
    isObject = tag & 7 == UInt32(JSONKind.object.rawValue)
    previous = JSONNode(truncatingIfNeeded: isObject ? closed - 1 : closed)
  }

  /// Reads a string or key whose quote is at `start`.
  @inline(__always)
  private mutating func text(at start: Int) throws(JSONProblem) -> Int {
    let stop = StringText.plainEnd(base, from: start + 1, end: end)
    guard stop < end, base[stop] == UInt8(ascii: "\"") else {
      return try unusualText(from: start + 1, plainTo: stop)
    }
    try append(.string, start + 1, stop)
    return stop + 1
  }

  /// Reads the rest of a string that has escapes or non-ASCII characters, or is invalid.
  @inline(never)
  private mutating func unusualText(
    from start: Int, plainTo middle: Int
  ) throws(JSONProblem) -> Int {
    var isEscaped = false
    let stop = try StringText.end(base, from: middle, end: end, isEscaped: &isEscaped)
    try append(.string, start, stop)
    if isEscaped {
      let raw = UnsafeBufferPointer(start: base + start, count: stop - start)
      guard let place = memory.unescape(raw) else {
        throw JSONProblem(offset: start, cause: .escapedText)
      }
      nodes[count - 1].tag |= TapeNode.escapedFlag | place << TapeNode.payloadShift
    }
    return stop + 1
  }

  /// Links the next node as the next child.
  @inline(__always)
  private mutating func link() {
    let node = JSONNode(truncatingIfNeeded: count)
    if previous >= 0 { nodes[Int(previous)].next = node }
    previous = node
    children &+= 1
  }

  /// The same for a value; a member's value is found through its key.
  @inline(__always)
  private mutating func linkElement() {
    if !isObject { link() }
  }

  @inline(__always)
  private mutating func append(
    _ kind: JSONKind, _ start: Int, _ stop: Int
  ) throws(JSONProblem) {
    if count == capacity { try grow(at: start) }
    nodes[count] = TapeNode(
      start: UInt32(truncatingIfNeeded: start), end: UInt32(truncatingIfNeeded: stop), next: -1,
      tag: UInt32(kind.rawValue))
    count &+= 1
  }

  @inline(never)
  private mutating func grow(at offset: Int) throws(JSONProblem) {
    guard memory.growNodes(limit: nodesMax) else {
      throw JSONProblem(offset: offset, cause: .nodes(nodesMax))
    }
    nodes = memory.nodes
    capacity = memory.nodeCapacity
  }

  /// The first offset from `start` on that is not white space.
  @inline(__always)
  private func skipped(_ start: Int) throws(JSONProblem) -> Int {
    var here = start
    while here < end {
      let byte = base[here]
      guard byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09 else { return here }
      here += 1
    }
    throw JSONProblem(offset: end, cause: .truncated)
  }
}
