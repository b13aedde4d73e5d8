// Hand-made gzip members (RFC 1951 and 1952), so that each test controls every byte.

/// A member that stores `text` uncompressed.
func gzip(_ text: String) -> [UInt8] { gzip(Array(text.utf8)) }

/// A member that stores `bytes` uncompressed, in blocks of at most 65,535.
func gzip(_ bytes: [UInt8]) -> [UInt8] {
  var member = memberHeader
  var start = 0
  repeat {
    let part = bytes[start..<min(start + 65_535, bytes.count)]
    start = part.endIndex
    let length = UInt16(part.count)
    member.append(start == bytes.count ? 1 : 0)
    member += littleEndian(length) + littleEndian(~length) + part
  } while start < bytes.count
  return member + littleEndian(checksum(bytes)) + littleEndian(UInt32(bytes.count))
}

/// A member that contains `byte` 1 + 258 × `runs` times in about `runs` × 13 bits.
func gzip(runsOf byte: UInt8, runs: Int) -> [UInt8] {
  precondition(byte < 144, "the fixed code of a literal below 144 has eight bits")
  var bits = BitWriter()
  bits.append(0b1, count: 1)  // last block
  bits.append(0b01, count: 2)  // fixed codes
  bits.appendCode(0x30 + UInt32(byte), count: 8)
  for _ in 0..<runs {
    bits.appendCode(0b1100_0101, count: 8)  // length 258
    bits.appendCode(0, count: 5)  // one byte back
  }
  bits.appendCode(0, count: 7)
  let inflated = [UInt8](repeating: byte, count: 1 + 258 * runs)
  return memberHeader + bits.bytes + littleEndian(checksum(inflated))
    + littleEndian(UInt32(inflated.count))
}

/// The output of `printf '{"a":1}\n{"b":2}\n{"a":1}\n' | gzip -n`.
let compressedMember: [UInt8] = [
  0x1F, 0x8B, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x03, 0xAB, 0x56, 0x4A, 0x54,
  0xB2, 0x32, 0xAC, 0xE5, 0xAA, 0x56, 0x4A, 0x52, 0xB2, 0x32, 0x02, 0xD1, 0x10, 0x3E,
  0x00, 0x48, 0x6E, 0xF5, 0x12, 0x18, 0x00, 0x00, 0x00,
]

/// The content of `compressedMember`.
let compressedText = "{\"a\":1}\n{\"b\":2}\n{\"a\":1}\n"

private let memberHeader: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 255]

private struct BitWriter {
  private(set) var bytes: [UInt8] = []
  private var used = 8

  mutating func append(_ value: UInt32, count: Int) {
    for place in 0..<count { appendBit(UInt8(value >> UInt32(place) & 1)) }
  }

  /// Appends a Huffman code, highest bit first.
  mutating func appendCode(_ value: UInt32, count: Int) {
    for place in (0..<count).reversed() { appendBit(UInt8(value >> UInt32(place) & 1)) }
  }

  private mutating func appendBit(_ bit: UInt8) {
    if used == 8 {
      bytes.append(0)
      used = 0
    }
    bytes[bytes.count - 1] |= bit << UInt8(used)
    used += 1
  }
}

private func littleEndian<Number: FixedWidthInteger>(_ number: Number) -> [UInt8] {
  withUnsafeBytes(of: number.littleEndian) { Array($0) }
}

/// CRC-32, RFC 1952 §8.
private func checksum(_ bytes: [UInt8]) -> UInt32 {
  let table = crcTable()
  var crc: UInt32 = .max
  for byte in bytes {
    crc = table[Int(UInt8(truncatingIfNeeded: crc) ^ byte)] ^ (crc >> 8)
  }
  return ~crc
}

private func crcTable() -> [UInt32] {
  (0..<256).map { index in
    var crc = UInt32(index)
    for _ in 0..<8 {
      let isOdd = crc & 1 == 1
      crc >>= 1
      if isOdd { crc ^= 0xEDB8_8320 }
    }
    return crc
  }
}
