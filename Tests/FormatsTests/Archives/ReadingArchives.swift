import Foundation
import Testing

@testable import Formats

import TestSupport

/// The complete result of reading an archive.
struct Reading {
  /// A skipped value.
  struct Place: Equatable {
    let line: Int64
    let byteOffset: Int64
  }

  /// The delivered bytes, joined.
  var bytes: [UInt8] = []
  /// The size of each chunk.
  var chunkSizes: [Int] = []
  var oversized: [Place] = []
  /// Whether reading had to start again because its first result was wrong.
  var isRepeated = false
  var end = ArchiveEnd(inflatedBytes: 0, damage: nil, sha256: "", contentHash: 0)

  var text: String { String(decoding: bytes, as: UTF8.self) }
  /// The delivered lines without their newlines.
  var lines: [String] { text.split(separator: "\n").map(String.init) }

  /// Reads an archive of these bytes, of which `known` are known; every chunk must report its
  /// position in `inflated`.
  init(
    _ archive: [UInt8], inflated: [UInt8]? = nil, sizes: LineSizes = LineSizes(),
    byZlibAlone: Bool = false, known: Int64 = 0
  ) throws {
    let folder = try TemporaryFolder()
    let listing = try ArchiveFolder.files(under: [folder.write(archive, to: "archive")])
    let file = try #require(listing.files.first)
    var (counted, newlines) = (0, 0)
    end = try readArchive(
      file, sizes: sizes, byZlibAlone: byZlibAlone, known: { _ in known }
    ) { chunk in
      switch chunk {
      case .oversizedValue(let line, let byteOffset):
        oversized.append(Place(line: line, byteOffset: byteOffset))
      case .again:
        (bytes, chunkSizes, oversized) = ([], [], [])
        isRepeated = true
      case .lines(let part, let firstLine, let firstOffset):
        bytes += part
        chunkSizes.append(part.count)
        guard let inflated else { return }
        let start = Int(firstOffset)
        let isSame = inflated.withUnsafeBytes { whole in
          newlines += Self.newlines(in: UnsafeRawBufferPointer(rebasing: whole[counted..<start]))
          guard let whole = whole.baseAddress, let bytes = part.baseAddress else {
            return part.isEmpty
          }
          return memcmp(whole + start, bytes, part.count) == 0
        }
        counted = start
        #expect(isSame && firstLine == Int64(1 + newlines))
      }
    }
    #expect(end.sha256 == (try sha256(of: file)))
  }

  private static func newlines(in bytes: UnsafeRawBufferPointer) -> Int {
    var (count, rest) = (0, bytes)
    while let start = rest.baseAddress, let found = memchr(start, 10, rest.count) {
      count += 1
      rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(UnsafeRawPointer(found) - start + 1))
    }
    return count
  }
}
