import Domain
import EventStore
import Formats
import Logging
import Providers

extension Normaliser {
  /// Adds the content of a chunk; the lines of `retracted` are skipped.
  mutating func add(_ chunk: ArchiveChunk, apart retracted: Set<Int64>, to batch: inout EventBatch)
  {
    for (piece, isRetracted) in chunk.pieces(apart: retracted) {
      if isRetracted {
        var aside = EventBatch()
        add(piece, to: &aside)
        batch.lines += aside.lines
        batch.skipped[retractedReason, default: 0] += aside.lines
      } else {
        add(piece, to: &batch)
      }
    }
  }
}

extension SnapshotReader {
  /// Adds the content of a chunk, except the lines of `retracted`; returns the number of these.
  func read(
    _ chunk: ArchiveChunk, apart retracted: Set<Int64>, capturedAtDefault: Instant?,
    to batch: inout SnapshotBatch
  ) -> Int64 {
    var aside = SnapshotBatch()
    for (piece, isRetracted) in chunk.pieces(apart: retracted) {
      if isRetracted {
        read(piece, capturedAtDefault: capturedAtDefault, to: &aside)
      } else {
        read(piece, capturedAtDefault: capturedAtDefault, to: &batch)
      }
    }
    return aside.lines
  }
}

extension NewArchive {
  /// Creates the ledger's entry for a file with these bytes.
  init(_ file: ArchiveFile, sha256: String, kind: ArchiveKind) {
    self.init(name: file.name, sha256: sha256, kind: kind)
    (path, bytes, modified) = (file.path, file.bytes, file.modified)
    inode = Int64(bitPattern: file.inode)
  }
}

extension ArchiveFile {
  /// Returns the metadata of a message about the file, for programs.
  func metadata(_ code: String) -> Logger.Metadata { ["code": "\(code)", "archive": "\(path)"] }
}

extension Intake {
  func warn(_ code: String, _ file: ArchiveFile, _ text: String) {
    log.warning("\(file.path) \(text)", metadata: file.metadata(code))
  }

  func warn(of damage: ArchiveDamage, in file: ArchiveFile, effect: String = "") {
    let doubt =
      damage.provisionalFrom.map {
        ", but those from byte \($0) of the inflated file may be wrong, because the checksum is: "
          + "the rows they touch are not complete until the whole file arrives"
      } ?? ""
    warn(
      "archive_damaged", file,
      """
      is damaged at byte \(damage.offset): \(damage.detail); the whole lines before it \
      count\(doubt)\(effect). Deliver the whole file under the same name to pick up the rest
      """)
  }
}
