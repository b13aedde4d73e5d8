/// Limits of sizes, and rules for file names.
enum SizeRules {
  static let fileLinesMax = 300
  static let functionLinesMax = 60
  static let columnsMax = 100
  static let folderFilesMax = 15

  /// Folders with too many of `paths`.
  static func crowdedFolders(_ paths: [String]) -> [Violation] {
    Dictionary(grouping: paths) { $0.split(separator: "/").dropLast().joined(separator: "/") }
      .filter { $0.value.count > folderFilesMax }
      .map {
        Violation(path: $0.key, problem: "\($0.value.count) files; at most \(folderFilesMax)")
      }
  }

  static func longFile(_ file: SourceFile) -> [Violation] {
    let count = file.lines.last?.isEmpty == true ? file.lines.count - 1 : file.lines.count
    guard count > fileLinesMax else { return [] }
    return [
      Violation(path: file.path, problem: "\(count) lines; at most \(fileLinesMax)")
    ]
  }

  static func longLines(_ file: SourceFile) -> [Violation] {
    file.lines.enumerated().filter {
      $0.element.utf8.count > columnsMax && $0.element.count > columnsMax
    }.map {
      Violation(
        path: file.path, line: $0.offset + 1,
        problem: "\($0.element.count) columns; at most \(columnsMax)")
    }
  }

  /// Functions, initialisers and computed properties, from their declaration to the closing brace.
  static func longFunctions(_ file: SourceFile) throws -> [Violation] {
    let declaration =
      #"^[^\n]*?(?<![.\w])(?:func\s+[^\n]|init[?]?[(<]|deinit\b|subscript\b|var\b[^=\n]*\{\s*$)"#
    let lines = file.code.utf8.split(
      separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false
    ).map(Array.init)
    return try matches(of: declaration, in: file.code).compactMap { match in
      // `^` may match before empty lines; the declaration is on the match's last line.
      let count = length(ofBodyFrom: match.line - 1, lines)
      guard count > functionLinesMax else { return nil }
      return Violation(
        path: file.path, line: match.line,
        problem: "a function of \(count) lines; at most \(functionLinesMax)")
    }
  }

  /// Lines up to the brace that closes the first one; 0 when there is none.
  private static func length(ofBodyFrom first: Int, _ lines: [[UInt8]]) -> Int {
    var parentheses = 0
    var braces = 0
    for (offset, line) in lines[first...].enumerated() {
      for byte in line {
        switch byte {
        case UInt8(ascii: "("), UInt8(ascii: "["): parentheses += 1
        case UInt8(ascii: ")"), UInt8(ascii: "]"): parentheses -= 1
        case UInt8(ascii: "{") where parentheses == 0 || braces > 0: braces += 1
        case UInt8(ascii: "}") where braces > 0:
          braces -= 1
          if braces == 0 { return offset + 1 }
        case UInt8(ascii: "}") where parentheses == 0: return 0
        default: break
        }
      }
    }
    return 0
  }

  /// Names without meaning.
  static func emptyName(_ path: String) throws -> [Violation] {
    let words = "Util|Utils|Utilities|Helper|Helpers|Manager|Managers|Common|Extensions|Service"
    let pattern =
      "(?:^|/)(?:\\w*(?:\(words)|Services|Handler|Processor|Impl)|Core|Base|Models|Misc)"
      + #"(?:\.swift|/|$)"#
    return try matches(of: pattern, in: path).map {
      Violation(path: path, problem: "`\($0.text)` has no meaning; describe the content")
    }
  }
}
