/// A gzip member with `text` that zlib refuses at its code lengths, because the distance codes are
/// incomplete; other libraries read to its end, where the checksum is wrong.
///
/// Built by hand from RFC 1951 §3.2.7 and RFC 1952: bytes below 255 have eight bits, 255 and the
/// end nine.
public func refusedGzip(_ text: String) -> [UInt8] {
  var bits = BitQueue()
  bits.append(1, count: 1)  // the last block
  bits.append(2, count: 2)  // with its own codes
  bits.append(0, count: 5)  // 257 literal and length codes
  bits.append(1, count: 5)  // 2 distance codes
  bits.append(12, count: 4)  // 16 code length codes; used are 2, 8 and 9
  for symbol in [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2] {
    bits.append([8: 1, 9: 2, 2: 2][symbol] ?? 0, count: 3)
  }
  for _ in 0..<255 { bits.append(0b0, count: 1) }  // 8
  for _ in 0..<2 { bits.append(0b11, count: 2) }  // 9
  for _ in 0..<2 { bits.append(0b01, count: 2) }  // 2, twice: half of all codes
  for byte in text.utf8 { bits.append(reversed(byte), count: 8) }
  bits.append(0b1_1111_1111, count: 9)
  return [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 255] + bits.finished + [UInt8](repeating: 0, count: 8)
}

private struct BitQueue {
  private var bytes: [UInt8] = []
  private var waiting: UInt32 = 0
  private var count: UInt32 = 0

  /// Appends the lowest `count` bits of `value`, lowest first.
  mutating func append(_ value: UInt32, count added: UInt32) {
    waiting |= value << count
    count += added
    while count >= 8 {
      bytes.append(UInt8(truncatingIfNeeded: waiting))
      waiting >>= 8
      count -= 8
    }
  }

  /// All bytes, the last one padded with zeros.
  var finished: [UInt8] { count == 0 ? bytes : bytes + [UInt8(truncatingIfNeeded: waiting)] }
}

/// A byte's bits in reverse order, because codes begin with their highest bit.
private func reversed(_ byte: UInt8) -> UInt32 {
  (0..<8).reduce(0) { $0 | (UInt32(byte) >> UInt32($1) & 1) << UInt32(7 - $1) }
}
