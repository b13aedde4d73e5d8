import TestSupport
import Testing

@testable import Formats

#if ZSTD
  import CZstd
#endif
#if BZIP2
  import CBzip2
#endif

@Suite("Archives compressed with zstd or bzip2")
struct CompressionTests {
  /// Lines that fill several blocks.
  private static let lines = (0..<10_000).map { number in
    let mixed = UInt64(number) &* 0x9e37_79b9_7f4a_7c15
    return #"{"n":\#(number),"text":"\#(String(mixed, radix: 36))\#(mixed >> 7)"}"# + "\n"
  }
  private static let text = Array(lines.joined().utf8)

  /// The formats besides gzip that this build reads.
  static let formats = Compression.readable.filter { $0 != .gzip }

  private func packed(_ bytes: [UInt8], _ format: Compression) -> [UInt8] {
    var bytes = bytes
    var packed = [UInt8](repeating: 0, count: bytes.count + bytes.count / 100 + 600)
    #if ZSTD
      if format == .zstd {
        // With a checksum, as the command writes it.
        let context = ZSTD_createCCtx()
        defer { ZSTD_freeCCtx(context) }
        ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1)
        let count = ZSTD_compress2(context, &packed, packed.count, &bytes, bytes.count)
        return Array(packed.prefix(count))
      }
    #endif
    #if BZIP2
      var count = UInt32(packed.count)
      let status = bytes.withUnsafeMutableBytes { source in
        packed.withUnsafeMutableBytes { target in
          BZ2_bzBuffToBuffCompress(
            target.bindMemory(to: CChar.self).baseAddress, &count,
            source.bindMemory(to: CChar.self).baseAddress, UInt32(source.count), 1, 0, 0)
        }
      }
      #expect(status == BZ_OK)
      packed.removeLast(packed.count - Int(count))
    #endif
    return packed
  }

  @Test("Lines are read, also from several frames and inside gzip", arguments: formats)
  func whole(format: Compression) throws {
    let whole = packed(Self.text, format)
    for archive in [whole, gzip(whole), packed(gzip(Self.text), format)] {
      let reading = try Reading(archive, inflated: Self.text)
      #expect(reading.bytes == Self.text && reading.end.damage == nil)
    }
    let parts = packed(Array("{}\n".utf8), format) + packed(Array("[]\n".utf8), format)
    #expect(try Reading(parts).text == "{}\n[]\n")
    #expect(try Reading(packed([], format) + parts).text == "{}\n[]\n")
  }

  @Test("The lines before a cut count, whatever the read size", arguments: formats)
  func cut(format: Compression) throws {
    let whole = packed(Self.text, format)
    let cut = Array(whole.prefix(whole.count / 2))
    let reading = try Reading(cut, inflated: Self.text)
    #expect(reading.lines.count > 2_500 && reading.lines.count < 7_500)
    #expect(reading.text.hasSuffix("}\n") && Self.text.starts(with: reading.bytes))
    #expect(reading.end.damage?.offset == Int64(cut.count))
    #expect(reading.end.damage?.detail == "the file ends inside a \(format.member)")
    #expect(try Reading(cut, sizes: LineSizes(buffer: 1000)).bytes == reading.bytes)
  }

  @Test("The lines before a flipped bit count, and the damage is reported", arguments: formats)
  func flipped(format: Compression) throws {
    var damaged = packed(Self.text, format)
    damaged[damaged.count / 2] ^= 0x10
    let reading = try Reading(damaged)
    #expect(reading.lines.count > 2_500 && reading.lines.count <= 10_000)
    #expect(reading.end.damage?.detail.hasPrefix("the \(format) data is corrupt") == true)
    #expect(try Reading(damaged, sizes: LineSizes(buffer: 1000)).bytes == reading.bytes)
  }

  @Test("Bytes after the last frame are damage, and no line is lost", arguments: formats)
  func trailing(format: Compression) throws {
    let reading = try Reading(packed(Array("{}\n".utf8), format) + Array("rest".utf8))
    #expect(reading.text == "{}\n")
    #expect(reading.end.damage?.detail == "bytes that are not \(format) follow the last member")
  }
}
