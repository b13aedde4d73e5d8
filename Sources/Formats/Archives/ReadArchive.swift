public import Domain

// The module's API: a file in, chunks of whole lines out. Compression is recognised by its magic
// bytes, never by the name, and an archive that was compressed twice is inflated twice.

/// The default for the longest JSON value that is read: 16 MiB.
public let defaultValueBytesMax = 16 << 20

/// Lines of an archive.
public enum ArchiveChunk {
  /// Physical lines with their newlines, as in the inflated archive.
  ///
  /// Of a document over several lines, each value is one line. The first byte is in line
  /// `firstLine`, from 1, at `firstOffset`, from 0. The last line of the
  /// archive may lack its newline. A line longer than about 1 MiB may come in several chunks, each
  /// of whole JSON values; the second then begins within its line. The bytes are good until the
  /// consumer returns.
  case lines(UnsafeRawBufferPointer, firstLine: Int64, firstOffset: Int64)
  /// A JSON value longer than the limit, which is left out.
  case oversizedValue(line: Int64, byteOffset: Int64)
  /// The delivered chunks are void: the archive is damaged, and is read again.
  case again
}

/// Where an archive stops being readable.
public struct ArchiveDamage: Codable, Sendable, Equatable {
  /// Offset in the file as it is on disk.
  public let offset: Int64
  /// The defect, without any of the content.
  public let detail: String
  /// Offset in the inflated archive of the first line in a gzip member whose data or checksum is
  /// wrong, which may be wrong, too; nil without such lines.
  public internal(set) var provisionalFrom: Int64?
}

/// The results of reading an archive.
public struct ArchiveEnd: Codable, Sendable, Equatable {
  /// Length of the inflated archive, up to the damage.
  public let inflatedBytes: Int64
  /// Nil when the archive is whole.
  public let damage: ArchiveDamage?
  /// SHA-256 of the file's bytes, behind the damage, too; 64 lower-case hex digits.
  public let sha256: String
  /// Hash of the inflated archive, up to the damage.
  public let contentHash: Int64
}

/// The SHA-256 of the bytes of `file` that were there when it was listed.
public func sha256(of file: ArchiveFile) throws(SubledgerError) -> String {
  for _ in 1..<file.attempts {
    do throws(SubledgerError) {
      return try FileBytes(file).finish()
    } catch {
      guard error.kind == .inputOutput else { throw error }
    }
  }
  return try FileBytes(file).finish()
}

/// Hashes of the first bytes of `file`, inflated, for each of `counts` it has.
public func contentHashes(of file: ArchiveFile, first counts: Set<Int64>) throws -> [Int64: Int64] {
  let window = try inflated(FileBytes(file), byZlibAlone: true).content
  var hash = ContentHash()
  var hashes: [Int64: Int64] = [:]
  for count in counts.sorted() {
    try window.pass(upTo: count) { hash.add($0) }
    if window.consumed == count { hashes[count] = hash.value }
  }
  return hashes
}

/// Gives `body` the first `count` bytes of `file`, inflated, piece by piece.
public func inflate(
  _ file: ArchiveFile, first count: Int64, _ body: (UnsafeRawBufferPointer) throws -> Void
) throws {
  try inflated(FileBytes(file), byZlibAlone: true).content.pass(upTo: count, body)
}

/// What `bytes` hold, inflated, and the levels of compression around it, the outermost first.
private func inflated(
  _ bytes: FileBytes, _ sizes: LineSizes = LineSizes(), levelsMax: Int = 2, byZlibAlone: Bool
) throws(SubledgerError) -> (content: ByteWindow, levels: [GzipSource]) {
  var window = ByteWindow(bytes, capacity: sizes.buffer)
  var levels: [GzipSource] = []
  while levels.count < levelsMax, let compression = try window.compression() {
    let level = try GzipSource(window, compression, of: bytes.file, byZlib: byZlibAlone)
    levels.append(level)
    window = ByteWindow(level, capacity: sizes.buffer)
  }
  return (window, levels)
}

/// Gives `body` all lines of `file` in order, in bounded memory.
///
/// Of a damaged archive come the lines that end before the damage, as zlib sees it, and the objects
/// of a last one that are closed there, however much is read at a time and whichever library is
/// installed. Plain bytes that end inside an object or array were cut off there.
///
/// - Parameters:
///   - file: as listed; bytes added since are not read.
///   - valueBytesMax: the longest JSON value that is delivered.
///   - known: what of the inflated bytes is known: whole lines before that offset are left out. It
///     is called before the first line, with a hash of the first ones.
/// - Throws: `SubledgerError`, `ForeignFile`, and whatever `known` and `body` throw.
public func readArchive(
  _ file: ArchiveFile, valueBytesMax: Int = defaultValueBytesMax,
  known: (_ beginning: Int64) throws -> Int64 = { _ in 0 },
  _ body: (ArchiveChunk) throws -> Void
) throws -> ArchiveEnd {
  try readArchive(file, sizes: LineSizes(valueMax: valueBytesMax), known: known, body)
}

func readArchive(
  _ file: ArchiveFile, sizes: LineSizes, byZlibAlone: Bool = false,
  known: (Int64) throws -> Int64 = { _ in 0 }, _ body: (ArchiveChunk) throws -> Void
) throws -> ArchiveEnd {
  precondition(sizes.valueMax > 0, "a value has at least one byte")
  var bytes = try FileBytes(file)
  var byZlibAlone = byZlibAlone
  var attempts = file.attempts
  while true {
    do {
      if let end = try read(bytes, sizes, byZlibAlone: byZlibAlone, known, body) { return end }
      precondition(!byZlibAlone, "what zlib makes of an archive counts")
      byZlibAlone = true
    } catch let error as SubledgerError where error.kind == .inputOutput && attempts > 1 {
      attempts -= 1
    }
    try body(.again)
    bytes = FileBytes(again: bytes)
  }
}

extension ArchiveFile {
  /// How often it is read when that breaks off; a disk is not asked twice.
  var attempts: Int { isRemote ? 3 : 1 }
}

/// Reads once; nil when the delivered chunks are void.
private func read(
  _ bytes: FileBytes, _ sizes: LineSizes, byZlibAlone: Bool, _ known: (Int64) throws -> Int64,
  _ body: (ArchiveChunk) throws -> Void
) throws -> ArchiveEnd? {
  let (content, levels) = try inflated(bytes, sizes, byZlibAlone: byZlibAlone)
  content.beginHash()
  let beginning = UnsafeRawBufferPointer(try content.look(at: 64 << 10))
  if levels.contains(where: \.isVoid) { return nil }
  if let foreign = ForeignFile(beginning, path: bytes.file.path) { throw foreign }
  let knownBytes = try known(hash(ofBeginning: beginning))
  let isDocument = DocumentSource.isDocument(beginning)
  let lines =
    isDocument
    ? ByteWindow(DocumentSource(content), capacity: sizes.buffer) : content
  let reader = LineReader(lines, sizes: sizes, known: knownBytes)
  try reader.run(body)
  if levels.contains(where: \.isVoid) { return nil }
  let sha256 = try bytes.finish()
  let isTorn = bytes.missing > 0 || levels.contains { $0.isTorn }
  let isCut = try reader.finish(isTorn: isTorn, mayBeCut: levels.isEmpty, body)
  var damage = try damage(of: bytes, levels)
  if damage == nil, isCut {
    damage = ArchiveDamage(offset: bytes.position, detail: "the file ends inside a JSON value")
  }
  if let trusted = levels.last?.trusted, !isDocument {
    let start = try lineStart(before: trusted, of: zlibWindow(of: bytes, levels.count))
    damage?.provisionalFrom = start < reader.position ? start : nil
  } else if levels.contains(where: { $0.trusted != nil }) {
    // Inside another damaged member, or of a document, it is not known which lines may be wrong.
    damage?.provisionalFrom = 0
  }
  return ArchiveEnd(
    inflatedBytes: reader.position, damage: damage, sha256: sha256,
    contentHash: content.contentHash)
}

/// A hash of the first lines, to find archives that may be the beginning of one another.
///
/// It covers 128 bytes and the rest of their line, at most 4 KiB, less the newline: what is added
/// behind these changes nothing.
private func hash(ofBeginning bytes: UnsafeRawBufferPointer) -> Int64 {
  let bytes = bytes.prefix(4096)
  let end = bytes.dropFirst(128).firstIndex(of: UInt8(ascii: "\n")) ?? bytes.endIndex
  var fingerprint = Fingerprint()
  fingerprint.combine(UnsafeRawBufferPointer(rebasing: bytes[..<end]))
  return fingerprint.value
}

private func lineStart(before offset: Int64, of content: ByteWindow) throws -> Int64 {
  var (passed, start): (Int64, Int64) = (0, 0)
  try content.pass(upTo: offset) { bytes in
    if let newline = lastNewline(in: bytes) { start = passed + Int64(newline) + 1 }
    passed += Int64(bytes.count)
  }
  return start
}

/// What `bytes` hold from their beginning in so many levels of compression, inflated by zlib.
private func zlibWindow(
  of bytes: FileBytes, _ levels: Int
) throws(SubledgerError) -> ByteWindow {
  try inflated(FileBytes(again: bytes), levelsMax: levels, byZlibAlone: true).content
}

/// The damage nearest to the disk: errors in higher layers follow from it.
private func damage(of bytes: FileBytes, _ levels: [GzipSource]) throws -> ArchiveDamage? {
  if bytes.missing > 0 {
    return ArchiveDamage(
      offset: bytes.position, detail: "the file became shorter while it was read")
  }
  guard let depth = levels.firstIndex(where: { $0.damage != nil }) else { return nil }
  guard depth > 0, let detail = levels[depth].damage?.detail else { return levels[depth].damage }
  // Levels read ahead as far as their buffers are long, so the place is looked for by itself.
  let below = try zlibWindow(of: bytes, depth)
  try below.pass(upTo: levels[depth].consumed + 1)
  return ArchiveDamage(offset: below.fileOffset, detail: detail)
}
