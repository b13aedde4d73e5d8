internal import Domain
internal import Glibc

/// A path, or a name in one, as the system's bytes, which need not be UTF-8.
public struct RawPath: Sendable, Hashable, Comparable {
  /// The bytes without the terminating 0.
  public let bytes: [UInt8]

  /// The path of these bytes.
  public init(bytes: [UInt8]) { self.bytes = bytes }

  /// The path of a text.
  public init(_ text: String) { bytes = Array(text.utf8) }

  /// The bytes with a terminating 0, as system calls expect them.
  public var terminated: [CChar] { bytes.map { CChar(bitPattern: $0) } + [0] }

  /// The path as valid text on one line; different paths look different.
  public var shown: String { String(escaping: bytes) }

  /// The path of `name` in this folder.
  ///
  /// `name` can be a path itself. If either is empty, returns the other.
  public func appending(_ name: RawPath) -> RawPath {
    let slash = UInt8(ascii: "/")
    let isBare = bytes.isEmpty || name.bytes.isEmpty || bytes.last == slash
    return RawPath(bytes: bytes + (isBare ? [] : [slash]) + name.bytes)
  }

  /// Orders by bytes.
  public static func < (left: RawPath, right: RawPath) -> Bool {
    left.bytes.lexicographicallyPrecedes(right.bytes)
  }

  /// The names in this folder without `.` and `..`, in byte order; nil, with `errno` set, unless
  /// all could be read.
  public func names() -> [RawPath]? { opendir(terminated).flatMap(Self.names) }

  /// The same for a folder open as `descriptor`, which stays open.
  public static func names(in descriptor: Int32) -> [RawPath]? {
    let own = openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    return own < 0 ? nil : fdopendir(own).flatMap(names)
  }

  private static func names(_ folder: OpaquePointer) -> [RawPath]? {
    defer { keepingError { closedir(folder) } }
    var names: [RawPath] = []
    while true {
      // Separates an error from the end: a partial list would look like the folder's whole content.
      errno = 0
      guard let entry = readdir(folder) else {
        return errno == 0 ? names.sorted() : nil
      }
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { Array($0.prefix { $0 != 0 }) }
      if name != Array(".".utf8), name != Array("..".utf8) { names.append(RawPath(bytes: name)) }
    }
  }

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
