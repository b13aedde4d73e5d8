import CZlib
import Glibc

@testable import Formats

// The steering byte's lowest two bits choose plain bytes, packed members, truncated members, or
// doubly packed ones; the other bits choose the cut.

/// Archives: the result must not depend on the read size, complete text must be restored, and
/// salvaged text must be its beginning.
func feedGzip(_ bytes: UnsafeRawBufferPointer) {
  guard let (choice, rest) = bytes.steered else { return }
  let steps = choice >> 2
  guard choice & 3 != 0 else {
    _ = sameAtAnySize(rest, steps)
    return
  }
  // Input with a compression magic would be unpacked again.
  guard !Reading.converts(rest) else { return }
  let packed = members(of: rest, steps)
  switch choice & 3 {
  case 1: claim(whole(packed, steps) == Array(rest), "packed text comes back")
  case 2:
    // A single byte cannot be recognized as gzip.
    let cut = max(2, packed.count * (steps + 1) / 65)
    let salvaged = packed[..<cut].withUnsafeBytes { sameAtAnySize($0, steps).bytes }
    claim(rest.starts(with: salvaged), "what is salvaged is the text's beginning")
  default:
    let twice = packed.withUnsafeBytes { members(of: $0, steps / 2) }
    claim(whole(twice, steps) == Array(rest), "text packed twice comes back")
  }
}

private func whole(_ archive: [UInt8], _ steps: Int) -> [UInt8] {
  archive.withUnsafeBytes { bytes in
    let reading = sameAtAnySize(bytes, steps)
    claim(reading.damage == nil, "an archive that is whole is not called damaged")
    return reading.bytes
  }
}

/// The result of reading, which must be the same with tiny buffers.
private func sameAtAnySize(_ archive: UnsafeRawBufferPointer, _ steps: Int) -> Reading {
  let large = Reading(archive, largeSizes)
  claim(Reading(archive, largeSizes, byZlibAlone: true) == large, "zlib alone reads the same")
  var small = largeSizes
  small.buffer = 1 + steps
  claim(Reading(archive, small) == large, "an archive reads alike with \(small.buffer) bytes")
  return large
}

/// Limits far above any fuzz input, so that no value is skipped.
private let largeSizes = LineSizes(buffer: 4096, longLine: 1 << 20, valueMax: 1 << 20)

/// `bytes` as gzip members, cut into `steps` + 1 pieces of equal length.
private func members(of bytes: UnsafeRawBufferPointer, _ steps: Int) -> [UInt8] {
  let length = bytes.count / (steps + 1) + 1
  var packed: [UInt8] = []
  var start = 0
  repeat {
    let end = min(start + length, bytes.count)
    packed += member(UnsafeRawBufferPointer(rebasing: bytes[start..<end]), level: Int32(steps % 10))
    if steps % 7 == 3 { packed += [0, 0] }
    start = end
  } while start < bytes.count
  return packed
}

private func member(_ bytes: UnsafeRawBufferPointer, level: Int32) -> [UInt8] {
  var stream = z_stream()
  let status = deflateInit2_(
    &stream, level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
    Int32(MemoryLayout<z_stream>.size))
  claim(status == Z_OK, "zlib is ready")
  defer { deflateEnd(&stream) }
  var packed = [UInt8](repeating: 0, count: Int(deflateBound(&stream, UInt(bytes.count))))
  let count = packed.withUnsafeMutableBufferPointer { target in
    var input = Array(bytes)
    return input.withUnsafeMutableBufferPointer { source in
      stream.next_in = source.baseAddress
      stream.avail_in = UInt32(source.count)
      stream.next_out = target.baseAddress
      stream.avail_out = UInt32(target.count)
      claim(deflate(&stream, Z_FINISH) == Z_STREAM_END, "zlib packs in one go")
      return target.count - Int(stream.avail_out)
    }
  }
  return Array(packed[..<count])
}
