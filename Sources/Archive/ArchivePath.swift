internal import Glibc

/// A path as the bytes that the file system knows, which need not be UTF-8.
struct ArchivePath: Sendable, Hashable {
  let bytes: [UInt8]

  init(bytes: [UInt8]) { self.bytes = bytes }

  init(_ text: String) { bytes = Array(text.utf8) }

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

  /// The path on one line of valid text: U+FFFD for bytes that are not UTF-8, escapes for controls.
  var shown: String {
    var text = ""
    for scalar in String(decoding: bytes, as: UTF8.self).unicodeScalars {
      switch scalar.value {
      case 0x0A: text += "\\n"
      case 0x0D: text += "\\r"
      case 0x09: text += "\\t"
      case 0..<0x20, 0x7F..<0xA0, 0x2028, 0x2029: text += "\\u{\(String(scalar.value, radix: 16))}"
      default: text.unicodeScalars.append(scalar)
      }
    }
    return text
  }

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
