import Foundation
import Testing

/// A pattern that must not occur in some part of the sources.
struct WordRule: Sendable, CustomTestStringConvertible {
  enum Part: Sendable { case code, comments }

  /// The rule as a sentence.
  let sentence: String
  /// A regular expression in which `^` and `$` match the ends of lines.
  let pattern: String
  var part = Part.code
  /// Prefixes of the paths that it applies to.
  var within = [""]
  /// Prefixes of the paths that it does not apply to, each with the reason.
  var exceptions: [String: String] = [:]
  /// A line that breaks the rule, which proves that it finds something.
  let example: String
  /// A text that each match contains, so that few files need the expression.
  var stem = ""

  var testDescription: String { sentence }

  func holds(for path: String) -> Bool {
    within.contains { path.hasPrefix($0) } && !exceptions.keys.contains { path.hasPrefix($0) }
  }

  func violations(in file: SourceFile) throws -> [Violation] {
    let text = part == .code ? file.code : file.comments
    guard holds(for: file.path), text.has(stem) else { return [] }
    return try matches(of: pattern, in: text).map { match in
      Violation(path: file.path, line: match.line, problem: "`\(match.text)`: \(sentence)")
    }
  }
}

extension String {
  /// Whether it contains these bytes.
  func has(_ bytes: String) -> Bool { strstr(self, bytes) != nil }
}

/// A range of text that matches a pattern.
struct Match {
  /// Line number from 1.
  let line: Int
  let text: String
  /// The text of the first group; the whole match if there is no group.
  let group: String
}

/// The matches of `pattern` in `text`, in order.
func matches(of pattern: String, in text: String) throws -> [Match] {
  let expression = try NSRegularExpression(pattern: pattern, options: [.anchorsMatchLines])
  let whole = text as NSString
  var line = 1
  var position = 0
  return expression.matches(in: text, range: NSRange(location: 0, length: whole.length)).map {
    let before = NSRange(location: position, length: $0.range.location - position)
    line += whole.substring(with: before).utf8.count { $0 == UInt8(ascii: "\n") }
    position = $0.range.location
    let found = whole.substring(with: $0.range)
    let group = $0.numberOfRanges > 1 ? $0.range(at: 1) : $0.range
    return Match(
      line: line, text: found.trimmingCharacters(in: .whitespacesAndNewlines),
      group: group.location == NSNotFound ? "" : whole.substring(with: group))
  }
}
