import Domain
import TestSupport
import Testing

@testable import Formats

/// Formats that are read if their library was installed at build time.
private let withoutLibrary: [([UInt8], String)] = [
  (Compression.zstd, [0x28, 0xb5, 0x2f, 0xfd, 4, 0, 0, 0], "zstd -dc FILE | gzip"),
  (.bzip2, Array("BZh91AY&SY".utf8), "bzip2 -dc FILE | gzip"),
].filter { !Compression.readable.contains($0.0) }.map { ($0.1, $0.2) }

@Suite("Files without lines")
struct ForeignFileTests {
  @Test(
    "A file in another format is reported with the command that converts it, also inside gzip",
    arguments: [
      ([0x50, 0x4b, 3, 4, 20], "unzip -p FILE | gzip"),
      ([0xfd, 0x37, 0x7a, 0x58, 0x5a, 0, 0], "xz -dc FILE | gzip"),
      ([4, 0x22, 0x4d, 0x18, 0x64], "lz4 -dc FILE | gzip"),
      ([0x1f, 0x9d, 0x90, 0x41], "gzip -dc FILE | gzip"),
      ([0xff, 0xfe, 0x7b, 0], "iconv -f UTF-16 -t UTF-8 FILE | gzip"),
      ([0x7b, 0, 0x22, 0], "iconv -f UTF-16LE -t UTF-8 FILE | gzip"),
      (Array(repeating: 0x61, count: 257) + Array("ustar\0".utf8), "tar -xOf FILE | gzip"),
    ] + withoutLibrary)
  func foreign(bytes: [UInt8], command: String) throws {
    for archive in [bytes, gzip(bytes)] {
      let foreign = #expect(throws: ForeignFile.self) { try Reading(archive) }
      #expect(foreign?.error.kind == .damagedInput)
      #expect(foreign?.error.hint == "convert it: \(command)")
    }
  }

  @Test("A file that begins with no character is binary", arguments: [0x80, 0x89, 0xbf, 0xff])
  func binary(first: UInt8) {
    let foreign = #expect(throws: ForeignFile.self) { try Reading([first] + Array("PNG".utf8)) }
    #expect(foreign?.error.message.contains("it is a binary file") == true)
    #expect(foreign?.error.hint == "deliver lines of JSON, gzip or plain")
  }

  @Test(
    "Lines are read whatever they begin with",
    arguments: ["PK\n", "BZh9\n{}\n", "{}", "\u{0}\n", "\u{bf}\n"])
  func lines(text: String) throws {
    #expect(try Reading(Array(text.utf8)).text == text)
  }
}
