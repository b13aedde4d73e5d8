/// Writes integers and texts in few bytes, for blobs of the ledger.
///
/// Integers are LEB128, signed ones zigzag-encoded first (as in Protocol Buffers' `sint64`).
struct ByteWriter {
  private(set) var bytes: [UInt8] = []

  init() {}

  init(capacity: Int) { bytes.reserveCapacity(capacity) }

  mutating func reset() { bytes.removeAll(keepingCapacity: true) }

  @inline(__always)
  mutating func put(unsigned value: UInt64) {
    var rest = value
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(truncatingIfNeeded: rest))
  }

  @inline(__always)
  mutating func put(_ value: Int64) {
    put(unsigned: UInt64(bitPattern: value << 1 ^ value >> 63))
  }

  /// Writes eight bytes, for hashes, which a varint would not shorten.
  mutating func put(hash value: Int64) {
    withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
  }

  @inline(__always)
  mutating func put(byte: UInt8) { bytes.append(byte) }

  /// Writes bytes unchanged, without their length.
  @inline(__always)
  mutating func put(bytes other: UnsafeRawBufferPointer) { bytes.append(contentsOf: other) }

  mutating func put(_ text: UnsafeRawBufferPointer) {
    put(unsigned: UInt64(text.count))
    put(bytes: text)
  }

  mutating func put(_ text: String) {
    put(unsigned: UInt64(text.utf8.count))
    bytes.append(contentsOf: text.utf8)
  }
}

/// Reads what `ByteWriter` wrote.
///
/// Bytes that end too early read as zeros and make `isSound` false. The fields of a blob can so be
/// read one after another and checked once.
struct ByteReader {
  private let bytes: UnsafeRawBufferPointer
  private var offset = 0
  private(set) var isSound = true
  /// The bits of the current record that are not read yet.
  var bits: UInt64 = 0

  init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

  var isAtEnd: Bool { offset == bytes.count }

  @inline(__always)
  mutating func unsigned() -> UInt64 {
    var value: UInt64 = 0
    var shift: UInt64 = 0
    while offset < bytes.count, shift < 64 {
      let byte = bytes[offset]
      offset += 1
      value |= UInt64(byte & 0x7f) << shift
      if byte < 0x80 { return value }
      shift += 7
    }
    isSound = false
    return 0
  }

  @inline(__always)
  mutating func signed() -> Int64 {
    let value = unsigned()
    return Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
  }

  mutating func hash() -> Int64 {
    guard bytes.count - offset >= 8 else {
      isSound = false
      return 0
    }
    defer { offset += 8 }
    return Int64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: Int64.self))
  }

  @inline(__always)
  mutating func byte() -> UInt8 {
    guard offset < bytes.count else {
      isSound = false
      return 0
    }
    defer { offset += 1 }
    return bytes[offset]
  }

  mutating func text() -> UnsafeRawBufferPointer {
    let count = unsigned()
    guard count <= UInt64(bytes.count - offset) else {
      isSound = false
      return UnsafeRawBufferPointer(start: nil, count: 0)
    }
    defer { offset += Int(count) }
    return UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + Int(count)])
  }

  mutating func string() -> String { String(decoding: text(), as: UTF8.self) }

  /// Reads the bits with which a record begins.
  mutating func readBits() { bits = unsigned() }

  @inline(__always)
  mutating func bit(_ value: inout Bool) {
    value = bits & 1 != 0
    bits >>= 1
  }

  mutating func fail() { isSound = false }
}
