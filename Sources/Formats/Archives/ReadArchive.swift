public import Domain

// The module's API: a file in, chunks of whole lines out. Compression is recognised by magic bytes,
// never by name; an archive that was compressed twice is inflated twice.

/// The default for the longest JSON value that is read: 16 MiB.
public let defaultValueBytesMax = 16 << 20

/// Lines of an archive.
public enum ArchiveChunk {
  /// Physical lines with their newlines, as in the inflated archive.
  ///
  /// In a document over several lines, each value is one line. The first byte is in line
  /// `firstLine`, from 1, at `firstOffset`, from 0. The archive's last line may lack its newline. A
  /// line longer than about 1 MiB may be delivered in several chunks of whole JSON values; the
  /// later ones then begin within the line. The bytes are valid until the consumer returns.
  case lines(UnsafeRawBufferPointer, firstLine: Int64, firstOffset: Int64)
  /// A JSON value longer than the limit; its bytes are left out.
  case oversizedValue(line: Int64, byteOffset: Int64)
  /// The delivered chunks are void: the archive is damaged and is read again.
  case again
}

/// The position where an archive stops being readable.
public struct ArchiveDamage: Codable, Sendable, Equatable {
  /// Offset in the file on disk.
  public let offset: Int64
  /// The defect, without any content of the file.
  public let detail: String
  /// Offset in the inflated archive of the first line that may be wrong, because the data or
  /// checksum of its gzip member is; nil without such lines.
  public internal(set) var provisionalFrom: Int64?
}

/// The result of reading an archive.
public struct ArchiveEnd: Codable, Sendable, Equatable {
  /// Length of the inflated archive; of a damaged one, up to the end of its last whole value.
  public let inflatedBytes: Int64
  /// Nil when the archive is whole.
  public let damage: ArchiveDamage?
  /// SHA-256 of all bytes of the file, including those after the damage; 64 lower-case hex digits.
  public let sha256: String
  /// Hash of that content.
  public let contentHash: Int64
}

/// The SHA-256 of the bytes that `file` had when it was listed.
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

/// Hashes of the first bytes of `file`, inflated, for each of `counts` that it reaches.
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

/// Passes the first `count` bytes of `file`, inflated, to `body`, piece by piece.
public func inflate(
  _ file: ArchiveFile, first count: Int64, _ body: (UnsafeRawBufferPointer) throws -> Void
) throws {
  try inflated(FileBytes(file), byZlibAlone: true).content.pass(upTo: count, body)
}

/// The inflated content of `bytes` and the levels of compression around it, outermost first.
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

/// Passes all lines of `file` to `body` in order, in bounded memory.
///
/// A damaged archive delivers the lines that end before the damage as zlib finds it, and the closed
/// objects of the last line. This does not depend on how much is read at a time or on which library
/// is installed. Uncompressed bytes that end inside an object or array were cut off there.
///
/// - Parameters:
///   - file: as listed; bytes added since are not read.
///   - valueBytesMax: the longest JSON value that is delivered, in bytes.
///   - known: returns how many inflated bytes are known: whole lines before that offset are left
///     out. It is called before the first line, with a hash of the first lines.
/// - Throws: `SubledgerError`, `ForeignFile`, and any error of `known` and `body`.
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

/// Reads once; nil when the delivered chunks are void.
private func read(
  _ bytes: FileBytes, _ sizes: LineSizes, byZlibAlone: Bool, _ known: (Int64) throws -> Int64,
  _ body: (ArchiveChunk) throws -> Void
) throws -> ArchiveEnd? {
  let (content, levels) = try inflated(bytes, sizes, byZlibAlone: byZlibAlone)
  content.beginHash()
  _ = try content.fill(atLeast: 64 << 10)
  let beginning = UnsafeRawBufferPointer(content.bytes)
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
    // In a nested damaged member or in a document, it is unknown which lines may be wrong.
    damage?.provisionalFrom = 0
  }
  let whole = damage == nil || isDocument ? reader.position : lines.consumed
  var hash = content.contentHash
  if whole < reader.position {
    // What follows the damage, such as zeros, is not in the intact file.
    var beginning = ContentHash()
    try zlibWindow(of: bytes, levels.count).pass(upTo: whole) { beginning.add($0) }
    hash = beginning.value
  }
  return ArchiveEnd(inflatedBytes: whole, damage: damage, sha256: sha256, contentHash: hash)
}

/// A hash of the first lines that finds archives of which one may be the beginning of another.
///
/// It covers 128 bytes and the rest of their line, at most 4 KiB, without the newline: bytes added
/// later do not change it.
private func hash(ofBeginning bytes: UnsafeRawBufferPointer) -> Int64 {
  let bytes = bytes.prefix(4096)
  let end = bytes.dropFirst(128).firstIndex(of: UInt8(ascii: "\n")) ?? bytes.endIndex
  return Fingerprint.of(UnsafeRawBufferPointer(rebasing: bytes[..<end]))
}

private func lineStart(before offset: Int64, of content: ByteWindow) throws -> Int64 {
  var (passed, start): (Int64, Int64) = (0, 0)
  try content.pass(upTo: offset) { bytes in
    if let newline = lastNewline(in: bytes) { start = passed + Int64(newline) + 1 }
    passed += Int64(bytes.count)
  }
  return start
}

/// The content of `bytes` from the beginning within `levels` levels of compression, inflated by
/// zlib.
private func zlibWindow(
  of bytes: FileBytes, _ levels: Int
) throws(SubledgerError) -> ByteWindow {
  try inflated(FileBytes(again: bytes), levelsMax: levels, byZlibAlone: true).content
}

/// The damage closest to the disk: errors in outer layers follow from it.
private func damage(of bytes: FileBytes, _ levels: [GzipSource]) throws -> ArchiveDamage? {
  if bytes.missing > 0 {
    return ArchiveDamage(
      offset: bytes.position, detail: "the file shrank while it was read")
  }
  guard let depth = levels.firstIndex(where: { $0.damage != nil }) else { return nil }
  guard depth > 0, let detail = levels[depth].damage?.detail else { return levels[depth].damage }
  // Levels read ahead by a whole buffer, so the exact offset is searched separately.
  let below = try zlibWindow(of: bytes, depth)
  try below.pass(upTo: levels[depth].consumed + 1)
  return ArchiveDamage(offset: below.fileOffset, detail: detail)
}
