internal import Glibc
import Vocabulary

/// A path as the bytes that the file system knows, which need not be UTF-8.
struct ArchivePath: Sendable, Hashable {
  let bytes: [UInt8]

  init(bytes: [UInt8]) { self.bytes = bytes }

  init(_ text: String) { bytes = Array(text.utf8) }

  /// The path that `shown` shows as `text`.
  init(unescaping text: String) {
    // By scalars: what follows a brace can be a mark, which makes another Character of it.
    let pieces = text.unicodeScalars.split(separator: "\\", omittingEmptySubsequences: false)
    bytes = pieces.enumerated().flatMap { place, piece -> [UInt8] in
      let asItIs = Array(((place == 0 ? "" : "\\") + String(piece)).utf8)
      guard place > 0, piece.dropFirst().first == "{", let end = piece.firstIndex(of: "}"),
        let number = UInt32(String(piece[..<end].dropFirst(2)), radix: 16)
      else { return asItIs }
      let rest = Array(String(piece[piece.index(after: end)...]).utf8)
      switch piece.first {
      case "u": return Unicode.Scalar(number).map { Array(String($0).utf8) + rest } ?? rest
      case "x": return [UInt8(truncatingIfNeeded: number)] + rest
      default: return asItIs
      }
    }
  }

  /// The path of `name` inside this folder; inside the empty path, `name` itself.
  func appending(_ name: [UInt8]) -> ArchivePath {
    if bytes.isEmpty || bytes.last == UInt8(ascii: "/") { return ArchivePath(bytes: bytes + name) }
    return ArchivePath(bytes: bytes + [UInt8(ascii: "/")] + name)
  }

  /// What follows the last slash; slashes at the end do not count.
  var lastComponent: ArchivePath {
    let slash = UInt8(ascii: "/")
    guard let end = bytes.lastIndex(where: { $0 != slash }) else { return self }
    let start = bytes[...end].lastIndex(of: slash).map { $0 + 1 } ?? 0
    return ArchivePath(bytes: Array(bytes[start...end]))
  }

  /// The path on one line of valid text; different paths look different.
  var shown: String { String(escaping: bytes) }

  /// The path without links, `.` and `..`; nil when it cannot be resolved.
  var resolved: ArchivePath? {
    withCString { path in
      guard let found = realpath(path, nil) else { return nil }
      defer { free(found) }
      let bytes = UnsafeRawBufferPointer(start: found, count: strlen(found))
      return ArchivePath(bytes: Array(bytes))
    }
  }

  func withCString<Result>(_ body: (UnsafePointer<CChar>) -> Result) -> Result {
    let terminated = bytes.map { CChar(bitPattern: $0) } + [0]
    return terminated.withUnsafeBufferPointer { buffer in
      guard let start = buffer.baseAddress else {
        preconditionFailure("a terminated string is not empty")
      }
      return body(start)
    }
  }

  static func precedes(_ left: ArchivePath, _ right: ArchivePath) -> Bool {
    left.bytes.lexicographicallyPrecedes(right.bytes)
  }
}
