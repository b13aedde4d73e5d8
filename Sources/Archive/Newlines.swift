// Looking for newlines 32 bytes at a time.

/// How many newlines there are.
func newlines(in bytes: UnsafeRawBufferPointer) -> Int64 {
  let newline = SIMD32<UInt8>(repeating: UInt8(ascii: "\n"))
  let one = SIMD32<UInt8>(repeating: 1)
  var total: Int64 = 0
  var position = 0
  while position + 32 <= bytes.count {
    // A lane holds at most 255.
    let stop = min(position + 255 * 32, bytes.count - 31)
    var lanes = SIMD32<UInt8>.zero
    while position < stop {
      let part = bytes.loadUnaligned(fromByteOffset: position, as: SIMD32<UInt8>.self)
      lanes &+= SIMD32<UInt8>.zero.replacing(with: one, where: part .== newline)
      position += 32
    }
    total += Int64(SIMD32<UInt16>(truncatingIfNeeded: lanes).wrappedSum())
  }
  while position < bytes.count {
    if bytes[position] == UInt8(ascii: "\n") { total += 1 }
    position += 1
  }
  return total
}

/// Offset of the last newline.
func lastNewline(in bytes: UnsafeRawBufferPointer) -> Int? {
  let newline = SIMD32<UInt8>(repeating: UInt8(ascii: "\n"))
  var end = bytes.count
  while end >= 32 {
    let part = bytes.loadUnaligned(fromByteOffset: end - 32, as: SIMD32<UInt8>.self)
    if any(part .== newline) { break }
    end -= 32
  }
  while end > 0 {
    end -= 1
    if bytes[end] == UInt8(ascii: "\n") { return end }
  }
  return nil
}
