@testable import Formats

/// The complete result of reading an archive.
struct Reading: Equatable {
  /// The delivered bytes, joined.
  var bytes: [UInt8] = []
  /// Line and byte of skipped values.
  var leftOut: [[Int64]] = []
  var inflatedBytes: Int64 = 0
  var damage: ArchiveDamage?
  var sha256 = ""
  /// Whether it is a file in another format, which is refused.
  var isForeign = false

  /// Reads `archive`; every chunk must respect its limit and report its position.
  init(_ archive: UnsafeRawBufferPointer, _ sizes: LineSizes, byZlibAlone: Bool = false) {
    ScratchFile.archive.write(archive)
    let bound = max(sizes.longLine, sizes.valueMax + 1) + 2 * sizes.buffer + 2
    var newlines: Int64 = 0
    var follows: (line: Int64, offset: Int64)?
    do {
      let listing = try ArchiveFolder.files(under: [ScratchFile.archive.path])
      claim(listing.files.count == 1, "a regular file is listed")
      let end = try readArchive(listing.files[0], sizes: sizes, byZlibAlone: byZlibAlone) { chunk in
        switch chunk {
        case .oversizedValue(let line, let offset):
          leftOut.append([line, offset])
          follows = nil
        case .again: (bytes, leftOut, follows) = ([], [], nil)
        case .lines(let part, let line, let offset):
          claim(part.count <= bound, "a chunk of \(part.count) bytes keeps to \(bound)")
          claim(!part.isEmpty, "a chunk is not empty")
          if let follows { claim(follows == (line, offset), "a chunk follows the one before") }
          newlines = part.reduce(0) { $0 + ($1 == UInt8(ascii: "\n") ? 1 : 0) }
          follows = (line + newlines, offset + Int64(part.count))
          bytes += part
        }
      }
      (inflatedBytes, damage, sha256) = (end.inflatedBytes, end.damage, end.sha256)
    } catch is ForeignFile {
      self = Reading(isForeign: true)
    } catch {
      claim(false, "a readable file is read: \(error)")
    }
  }

  private init(isForeign: Bool) { self.isForeign = isForeign }

  /// Whether `bytes` are not delivered unchanged: packed bytes are unpacked, an indented document
  /// is split into lines, and other formats are refused.
  static func converts(_ bytes: UnsafeRawBufferPointer) -> Bool {
    let beginning = UnsafeRawBufferPointer(rebasing: bytes.prefix(64 << 10))
    return Compression.readable.contains { $0.begins(beginning) }
      || DocumentSource.isDocument(beginning) || ForeignFile(beginning, path: "") != nil
  }
}
