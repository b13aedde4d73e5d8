/// One Swift file, with code and comments separated.
struct SourceFile: Sendable {
  /// Relative to the repository's root.
  let path: String
  let lines: [Substring]
  /// The text with comments and the content of strings blanked; lines and columns are kept.
  let code: String
  /// The text with everything but comments blanked.
  let comments: String

  init(path: String, text: String) {
    self.path = path
    lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    var scan = SourceScan(text)
    scan.read()
    code = String(decoding: scan.code, as: UTF8.self)
    comments = String(decoding: scan.comments, as: UTF8.self)
  }
}

/// Separates code, comments and strings; interpolations are code.
private struct SourceScan {
  private let bytes: [UInt8]
  private var position = 0
  private(set) var code: [UInt8]
  private(set) var comments: [UInt8]

  init(_ text: String) {
    bytes = Array(text.utf8)
    code = bytes.map { $0 == UInt8(ascii: "\n") ? $0 : UInt8(ascii: " ") }
    comments = code
  }

  mutating func read() {
    while position < bytes.count { readCode(inInterpolation: false) }
  }

  private mutating func readCode(inInterpolation: Bool) {
    var depth = 0
    while position < bytes.count {
      let byte = bytes[position]
      let mayBegin =
        byte == UInt8(ascii: "/") || byte == UInt8(ascii: "#") || byte == UInt8(ascii: "\"")
      if mayBegin, starts(with: "//") {
        readComment { $0.bytes[$0.position] == UInt8(ascii: "\n") }
      } else if mayBegin, starts(with: "/*") {
        readComment { $0.starts(with: "*/") }
      } else if mayBegin, let hashes = hashesOfString() {
        readString(hashes)
      } else {
        if inInterpolation {
          if byte == UInt8(ascii: "(") { depth += 1 }
          if byte == UInt8(ascii: ")") { depth -= 1 }
          if depth < 0 { return }
        }
        code[position] = byte
        position += 1
      }
    }
  }

  private mutating func readComment(until isOver: (SourceScan) -> Bool) {
    while position < bytes.count, !isOver(self) {
      comments[position] = bytes[position]
      position += 1
    }
  }

  /// The number of `#` before a string that begins here; nil when none begins.
  private func hashesOfString() -> Int? {
    var end = position
    while end < bytes.count, bytes[end] == UInt8(ascii: "#") { end += 1 }
    return end < bytes.count && bytes[end] == UInt8(ascii: "\"") ? end - position : nil
  }

  private mutating func readString(_ hashes: Int) {
    let marks = String(repeating: "#", count: hashes)
    position += hashes
    let quote = starts(with: "\"\"\"") ? "\"\"\"" : "\""
    position += quote.count
    while position < bytes.count {
      if starts(with: quote + marks) {
        position += quote.count + hashes
        return
      }
      if starts(with: "\\" + marks + "(") {
        position += hashes + 2
        readCode(inInterpolation: true)
      } else if starts(with: "\\" + marks) {
        position += hashes + 2
      } else {
        if quote == "\"", bytes[position] == UInt8(ascii: "\n") { return }
        position += 1
      }
    }
  }

  private func starts(with text: String) -> Bool {
    bytes[position...].starts(with: text.utf8)
  }
}
