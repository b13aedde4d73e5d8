/// Field names as small numbers, so that one pass over an object's members finds them all.
///
/// A name is recognised by its length and its first and last eight bytes, which overlap in short
/// names; of longer ones, the last number also depends on the bytes in between.
public struct KeyTable: Sendable {
  private struct Entry {
    var length = -1
    var low: UInt64 = 0
    var high: UInt64 = 0
    var index = -1
  }

  private let entries: ContiguousArray<Entry>
  private let mask: UInt64
  private let seed: UInt64
  let count: Int

  /// A table of `keys`, which must be distinct.
  public init(_ keys: [String]) {
    precondition(Set(keys).count == keys.count, "the keys of a table differ")
    let keys = keys.map { Array($0.utf8) }
    var size = 8
    while size < keys.count * 4 { size *= 2 }
    // Sparse enough that a seed without collisions is found soon; if not, the table grows.
    var seed: UInt64 = 1
    var filled = Self.fill(keys, size: size, seed: seed)
    var tries = 1
    while filled == nil {
      if tries % 64 == 0 { size *= 2 }
      seed = (seed &+ 0x9e37_79b9_7f4a_7c15) | 1
      filled = Self.fill(keys, size: size, seed: seed)
      tries += 1
    }
    count = keys.count
    self.seed = seed
    entries = filled ?? []
    mask = UInt64(entries.count - 1)
  }

  /// The index of the name `bytes` in the list of keys; nil if it is not in the list.
  public func index(of bytes: UnsafeRawBufferPointer) -> Int? {
    let found = position(of: bytes)
    return found < 0 ? nil : found
  }

  /// The same, with -1 for nil.
  @inline(__always)
  func position(of bytes: UnsafeRawBufferPointer) -> Int {
    let (low, high) = Self.words(bytes)
    let entry = entries[Int(Self.hash(bytes.count, low, high, seed) & mask)]
    let isFound = entry.low == low && entry.high == high && entry.length == bytes.count
    return isFound ? entry.index : -1
  }

  private static func fill(
    _ keys: [[UInt8]], size: Int, seed: UInt64
  ) -> ContiguousArray<Entry>? {
    var entries = ContiguousArray(repeating: Entry(), count: size)
    for (index, key) in keys.enumerated() {
      let (low, high) = key.withUnsafeBytes(words)
      let slot = Int(hash(key.count, low, high, seed) & UInt64(size - 1))
      guard entries[slot].index < 0 else { return nil }
      entries[slot] = Entry(length: key.count, low: low, high: high, index: index)
    }
    return entries
  }

  @inline(__always)
  private static func hash(_ length: Int, _ low: UInt64, _ high: UInt64, _ seed: UInt64) -> UInt64 {
    let mixed = (low ^ (high << 23 | high >> 41) ^ UInt64(truncatingIfNeeded: length)) &* seed
    return mixed >> 40
  }

  /// The first and the last eight bytes, or all there are, as numbers.
  ///
  /// For a long name, the second number also depends on the bytes in between.
  @inline(__always)
  private static func words(_ bytes: UnsafeRawBufferPointer) -> (UInt64, UInt64) {
    guard let base = bytes.baseAddress else { return (0, 0) }
    let count = bytes.count
    if count >= 8 {
      var high = (base + count - 8).loadUnaligned(as: UInt64.self)
      if count > 16 {
        for offset in stride(from: 8, to: count - 8, by: 8) {
          let word = (base + offset).loadUnaligned(as: UInt64.self)
          high = (high ^ word) &* 0x9e37_79b9_7f4a_7c15
        }
      }
      return (base.loadUnaligned(as: UInt64.self), high)
    }
    if count >= 4 {
      return (
        UInt64(base.loadUnaligned(as: UInt32.self)),
        UInt64((base + count - 4).loadUnaligned(as: UInt32.self))
      )
    }
    var word: UInt64 = 0
    for byte in bytes { word = word << 8 | UInt64(byte) }
    return (word, 0)
  }
}

extension JSONTape {
  /// Looks up many members of one object in one pass.
  ///
  /// - Parameters:
  ///   - object: the object; any other value has no members.
  ///   - keys: the members to find.
  ///   - slots: returns the member's value for each key of the table, the last one for a repeated
  ///     key; -1 when absent, and the complement (`~`) of a null, which most callers treat as
  ///     absent.
  /// - Returns: the number of members that are not in the table.
  @discardableResult
  public func fields(
    of object: JSONNode, _ keys: KeyTable, into slots: inout [JSONNode]
  ) -> Int {
    if slots.count != keys.count { slots = Array(repeating: -1, count: keys.count) }
    for index in slots.indices { slots[index] = -1 }
    guard kind(object) == .object else { return 0 }
    var others = 0
    var current = firstChild(object)
    while let key = current {
      let position = keys.position(of: bytes(key))
      if position >= 0 {
        let value = value(ofKey: key)
        slots[position] = kind(value) == .null ? ~value : value
      } else {
        others += 1
      }
      current = next(key)
    }
    return others
  }
}
