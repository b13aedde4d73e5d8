/// A chunk that can be read after its archive was read further.
public struct ChunkCopy: Sendable {
  /// The bytes of a chunk of lines; empty for a value that is too long.
  public let bytes: [UInt8]
  private let line: Int64
  private let offset: Int64

  /// A copy of `chunk`; nil for one that only declares earlier chunks void.
  public init?(of chunk: ArchiveChunk) {
    switch chunk {
    case .again: return nil
    case .oversizedValue(let line, let byteOffset):
      (bytes, self.line, offset) = ([], line, byteOffset)
    case .lines(let bytes, let firstLine, let firstOffset):
      (self.bytes, line, offset) = (Array(bytes), firstLine, firstOffset)
    }
  }

  /// Calls `body` with the chunk, whose bytes are valid until it returns.
  public func withChunk(_ body: (ArchiveChunk) -> Void) {
    guard !bytes.isEmpty else { return body(.oversizedValue(line: line, byteOffset: offset)) }
    return bytes.withUnsafeBytes { body(.lines($0, firstLine: line, firstOffset: offset)) }
  }
}

extension ArchiveChunk {
  /// The chunk in pieces that contain either only lines in `lines` or none of them; line numbers
  /// are physical, from 1.
  public func pieces(apart lines: Set<Int64>) -> [(chunk: ArchiveChunk, isApart: Bool)] {
    guard !lines.isEmpty else { return [(self, false)] }
    switch self {
    case .again: return [(self, false)]
    case .oversizedValue(let line, _): return [(self, lines.contains(line))]
    case .lines(let bytes, let firstLine, let firstOffset):
      var pieces: [(chunk: ArchiveChunk, isApart: Bool)] = []
      var (line, start, startLine) = (firstLine, 0, firstLine)
      func end(at end: Int) {
        guard end > start else { return }
        let piece = UnsafeRawBufferPointer(rebasing: bytes[start..<end])
        pieces.append(
          (
            .lines(piece, firstLine: startLine, firstOffset: firstOffset + Int64(start)),
            lines.contains(startLine)
          ))
        (start, startLine) = (end, line)
      }
      for (index, byte) in bytes.enumerated() where byte == UInt8(ascii: "\n") {
        line += 1
        if lines.contains(line) != lines.contains(line - 1) { end(at: index + 1) }
      }
      end(at: bytes.count)
      return pieces
    }
  }
}
