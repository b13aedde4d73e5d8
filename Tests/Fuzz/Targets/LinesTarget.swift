@testable import Formats

/// Lines with limits of a few bytes: the same values are delivered and skipped for every read size.
func feedLines(_ bytes: UnsafeRawBufferPointer) {
  guard let (choice, rest) = bytes.steered, !Reading.converts(rest) else { return }
  let valueMax = 8 + choice & 15
  let large = Reading(rest, LineSizes(buffer: 1 << 16, longLine: 1 << 16, valueMax: valueMax))
  let small = Reading(
    rest, LineSizes(buffer: 1 + choice >> 4, longLine: 4, valueMax: valueMax))
  claim(small.leftOut == large.leftOut, "\(small.leftOut) are left out as \(large.leftOut)")
  claim(small.bytes == large.bytes, "the same bytes are delivered")
  claim(small.damage == large.damage, "the same damage is seen")
  let isRead = large.damage != nil || large.inflatedBytes == rest.count
  claim(isRead, "every byte is read")
  let isWhole = large.leftOut.isEmpty && large.damage == nil
  if isWhole { claim(large.bytes.elementsEqual(rest), "nothing is lost") }
}
