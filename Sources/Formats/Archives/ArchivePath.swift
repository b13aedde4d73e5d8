internal import Glibc

extension RawPath {
  init(unescaping text: String) {
    // By scalars: a combining mark after a brace would merge with it into another Character.
    let pieces = text.unicodeScalars.split(separator: "\\", omittingEmptySubsequences: false)
    let bytes = pieces.enumerated().flatMap { place, piece -> [UInt8] in
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
    self.init(bytes: bytes)
  }

  /// The part after the last slash, ignoring trailing slashes.
  var lastComponent: RawPath {
    let slash = UInt8(ascii: "/")
    guard let end = bytes.lastIndex(where: { $0 != slash }) else { return self }
    let start = bytes[...end].lastIndex(of: slash).map { $0 + 1 } ?? 0
    return RawPath(bytes: Array(bytes[start...end]))
  }

  /// The path without links, `.` and `..`; nil when it cannot be resolved.
  var resolved: RawPath? {
    guard let found = realpath(terminated, nil) else { return nil }
    defer { free(found) }
    let bytes = UnsafeRawBufferPointer(start: found, count: strlen(found))
    return RawPath(bytes: Array(bytes))
  }
}
