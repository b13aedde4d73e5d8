import Domain
import EventStore
import Formats
import Providers

/// The messages of a reader to the writer about one archive, in this order.
enum ArchiveMessage: Sendable {
  case opened(ArchiveOpening)
  /// Its bytes were known before this run, and are not read.
  case skipped
  case batch(EventBatch)
  /// The batches so far are invalid; the archive is read again.
  case again
  case ended(ArchiveEnd)
  /// The file cannot be read or is missing, which does not stop the reading of others.
  case unreadable(SubledgerError)
  case failed(any Error)

  /// Size in events; a batch takes the memory of a full one, however few events it contains.
  var size: Int {
    guard case .batch(let batch) = self else { return 1 }
    return max(batch.events.count, Int(batch.lines), batchLines)
  }
}

/// What is known of an archive before its first line.
struct ArchiveOpening: Codable, Sendable {
  /// Empty for a remote object, which is read once: its SHA-256 is known at the end.
  var sha256: String
  /// Hash of its first lines; nil if it is not read.
  var beginning: Int64?
  /// The archive that it continues.
  var previous: PreviousArchive?
}

private let batchLines = 1_024

/// Reads one archive from bytes to batches, the parallel part of the import.
struct ArchiveReader: Sendable {
  let rules: NormaliserSettings
  let valueBytesMax: Int
  /// Retracted lines, which do not count.
  let retracted: Set<Int64>
  let knownContents: Set<String>
  /// The archives that were read, by the hash of their first lines.
  var formers: [Int64: [PreviousArchive]]
  /// The archive whose content is read again, wherever it is now.
  var replayed: ArchiveRecord?

  /// The error for which the writer takes no more.
  private struct WriterStopped: Error { let cause: any Error }

  /// Sends the content of `file`, and its defects; throws only errors of `send`.
  func read(_ file: ArchiveFile, _ send: (ArchiveMessage) throws -> Void) throws {
    func pass(_ message: ArchiveMessage) throws(WriterStopped) {
      do { try send(message) } catch { throw WriterStopped(cause: error) }
    }
    do {
      let sha256 = try replayed?.sha256 ?? (file.isRemote ? "" : sha256(of: file))
      if knownContents.contains(sha256) {
        try pass(.opened(ArchiveOpening(sha256: sha256)))
        return try pass(.skipped)
      }
      try pass(.ended(try readBatches(of: file, sha256, pass)))
    } catch let stop as WriterStopped {
      throw stop.cause
    } catch let error as SubledgerError where error.isOfOneFile {
      try send(.unreadable(error))
    } catch let foreign as ForeignFile {
      try send(.unreadable(foreign.error))
    } catch {
      try send(.failed(error))
    }
  }

  /// Returns the longest archive whose content is the beginning of `file`; nil if there is none.
  ///
  /// Of archives with the same first lines, the last sixteen are compared.
  func previous(of file: ArchiveFile, _ beginning: Int64) throws -> PreviousArchive? {
    guard let formers = formers[beginning]?.suffix(16) else { return nil }
    let hashes = try contentHashes(of: file, first: Set(formers.map(\.contentBytes)))
    return formers.filter { hashes[$0.contentBytes] == $0.contentHash }
      .max { $0.contentBytes < $1.contentBytes }
  }

  private func readBatches(
    of file: ArchiveFile, _ sha256: String, _ send: (ArchiveMessage) throws -> Void
  ) throws -> ArchiveEnd {
    var normaliser = Normaliser(rules: rules)
    // The last lines of a chunk may exceed the limit.
    let (room, bytesMin) = (1_280, 1 << 20)
    var batch = EventBatch(room: room)
    func flush() throws {
      try send(.batch(batch))
      batch = EventBatch(room: room)
    }
    var opening: ArchiveOpening?
    func known(_ beginning: Int64) throws -> Int64 {
      if opening == nil {
        let previous = try previous(of: file, beginning)
        let new = ArchiveOpening(sha256: sha256, beginning: beginning, previous: previous)
        try send(.opened(new))
        opening = new
      }
      return opening?.previous?.knownBytes ?? 0
    }
    let end = try readArchive(file, valueBytesMax: valueBytesMax, known: known) { chunk in
      normaliser.add(chunk, apart: retracted, to: &batch)
      if case .again = chunk {
        (normaliser, batch) = (Normaliser(rules: rules), EventBatch())
        try send(.again)
      }
      if batch.lines >= batchLines || batch.arena.count >= bytesMin { try flush() }
    }
    if batch.lines > 0 { try flush() }
    return end
  }
}
