import Formats
import Testing

@Suite("Packing bytes as gzip")
struct GzipTests {
  @Test("Packed bytes unpack to the same, and pack to equal bytes", arguments: [0, 1, 300_000])
  func roundTrip(count: Int) throws {
    let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 3) }
    let packed = gzipMember(of: bytes)
    #expect(packed.prefix(8) == [0x1F, 0x8B, 8, 0, 0, 0, 0, 0])
    #expect(gzipMember(of: bytes) == packed)
    #expect(gzipContent(of: packed, bytesMax: count) == bytes)
  }

  @Test("Damage, a torn end, trailing bytes and too much content are refused")
  func damage() throws {
    let packed = gzipMember(of: Array("a price, and a price".utf8))
    var flipped = packed
    flipped[packed.count - 3] ^= 1
    #expect(gzipContent(of: flipped, bytesMax: 100) == nil)
    #expect(gzipContent(of: Array(packed.dropLast()), bytesMax: 100) == nil)
    #expect(gzipContent(of: packed + [0], bytesMax: 100) == nil)
    #expect(gzipContent(of: packed, bytesMax: 19) == nil)
    #expect(gzipContent(of: [], bytesMax: 100) == nil)
  }
}
