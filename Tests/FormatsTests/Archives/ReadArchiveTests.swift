import Domain
import Foundation
import Testing

@testable import Formats

import TestSupport

private let someLines = "{\"a\":1}\n{\"b\":2}\n"

@Test("Plain text and gzip are distinguished by their first bytes")
func magicBytes() throws {
  #expect(try Reading(Array(someLines.utf8)).text == someLines)
  #expect(try Reading(gzip(someLines)).text == someLines)
  #expect(try Reading(compressedMember).text == compressedText)
  #expect(try Reading([0x1F]).bytes == [0x1F])
  #expect(try Reading([0x1F, 0x41, 0x0A]).bytes == [0x1F, 0x41, 0x0A])
}

@Test("An empty archive has no lines and no damage", arguments: [[], gzip("")])
func empty(archive: [UInt8]) throws {
  let reading = try Reading(archive)
  #expect(reading.bytes.isEmpty && reading.chunkSizes.isEmpty)
  #expect(reading.end.damage == nil)
  #expect(reading.end.inflatedBytes == 0)
}

@Test("All members of a gzip file are read, including empty ones, with or without padding")
func members() throws {
  let padding = [UInt8](repeating: 0, count: 700)
  for gap in [[], [0], padding] {
    let archive = gzip(someLines) + gap + gzip("") + compressedMember + gap
    let reading = try Reading(archive)
    #expect(reading.text == someLines + compressedText)
    #expect(reading.end.damage == nil)
  }
}

@Test("A line can continue in the next member")
func lineAcrossMembers() throws {
  let reading = try Reading(gzip("{\"a\"") + gzip(":1}\n"))
  #expect(reading.text == "{\"a\":1}\n")
}

@Test("Doubly compressed content is inflated twice, and no more")
func doubleGzip() throws {
  let once = compressedMember + gzip(someLines)
  #expect(try Reading(gzip(once)).text == compressedText + someLines)
  let split = gzip(Array(once[..<9])) + gzip(Array(once[9...]))
  #expect(try Reading(split).text == compressedText + someLines)
  #expect(try Reading(gzip(gzip(once))).bytes == once)
}

@Test("The digest covers the file's own bytes, before and after damage")
func digest() throws {
  let whole = gzip(someLines)
  let damaged = whole + [UInt8](repeating: 7, count: 600_000)
  for archive in [Array(someLines.utf8), whole, gzip(whole), damaged, []] {
    #expect(try Reading(archive).end.sha256 == Formats.sha256(of: archive))
  }
}

/// The hash of a text that arrives in chunks of `size` bytes.
private func contentHash(of text: String, piece size: Int = .max) -> Int64 {
  var hash = ContentHash()
  Array(text.utf8).withUnsafeBytes { bytes in
    for start in stride(from: 0, to: bytes.count, by: min(size, max(bytes.count, 1))) {
      hash.add(UnsafeRawBufferPointer(rebasing: bytes[start...].prefix(size)))
    }
  }
  return hash.value
}

@Test("The hash of content depends on its bytes, not on their chunks", arguments: [0, 1, 4095])
func contentHash(more: Int) throws {
  let text = String(repeating: "01234567", count: 1024) + String(repeating: "x", count: more)
  let whole = contentHash(of: text)
  for size in [1, 7, 4095, 4096, 4097, 8000] {
    #expect(contentHash(of: text, piece: size) == whole)
  }
  for place in [0, 4095, 4096, text.utf8.count - 1] {
    var other = Array(text.utf8)
    other[place] ^= 1
    #expect(contentHash(of: String(decoding: other, as: UTF8.self)) != whole)
  }
}

@Test("The last line can lack its newline; blank lines, CRLF and BOMs are passed on")
func bytesAsTheyAre() throws {
  for text in ["{\"a\":1}", "\n\n{}\n\n", "{}\r\n\r\n{}\r\n", "\u{FEFF}{}\n\u{FEFF}{}", " ", "\n"] {
    for archive in [Array(text.utf8), gzip(text)] {
      let reading = try Reading(archive, inflated: Array(text.utf8))
      #expect(reading.bytes == Array(text.utf8))
      #expect(
        reading.end
          == ArchiveEnd(
            inflatedBytes: Int64(text.utf8.count), damage: nil, sha256: reading.end.sha256,
            contentHash: contentHash(of: text)))
    }
  }
}

@Test("Bytes added to a file after it was listed are not read")
func growingFile() throws {
  let folder = try TemporaryFolder()
  let path = try folder.write("{}\n", to: "a")
  let file = try #require(ArchiveFolder.files(under: [path]).files.first)
  try folder.write("{}\n[1]\n", to: "a")
  var text = ""
  let end = try readArchive(file) { chunk in
    if case .lines(let bytes, _, _) = chunk { text += String(decoding: bytes, as: UTF8.self) }
  }
  #expect(text == "{}\n")
  #expect(end.sha256 == Formats.sha256(of: Array("{}\n".utf8)))
}

@Test("A file that lost bytes after it was listed is damaged where it ends")
func shrunkFile() throws {
  let folder = try TemporaryFolder()
  let path = try folder.write("{}\n{}\n{}\n", to: "a")
  let file = try #require(ArchiveFolder.files(under: [path]).files.first)
  try folder.write("{}\n{", to: "a")
  var text = ""
  let end = try readArchive(file) { chunk in
    if case .lines(let bytes, _, _) = chunk { text += String(decoding: bytes, as: UTF8.self) }
  }
  #expect(text == "{}\n")
  #expect(end.damage?.offset == 4)
}

@Test("A deleted file cannot be read")
func vanishedFile() throws {
  let folder = try TemporaryFolder()
  let file = try #require(
    ArchiveFolder.files(under: [folder.write("{}\n", to: "a")]).files.first)
  try FileManager.default.removeItem(atPath: file.path)
  let error = #expect(throws: SubledgerError.self) { try readArchive(file) { _ in } }
  #expect(error?.kind == .noInput)
  #expect(throws: SubledgerError.self) { try sha256(of: file) }
}

@Test("An error thrown by the consumer is rethrown")
func consumerThrows() throws {
  struct Enough: Error {}
  let folder = try TemporaryFolder()
  let file = try #require(
    ArchiveFolder.files(under: [folder.write("{}\n", to: "a")]).files.first)
  #expect(throws: Enough.self) { try readArchive(file) { _ in throw Enough() } }
}
