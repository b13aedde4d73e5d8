import Domain
import CYaml
import Yams

/// A YAML file that a person wrote: its root, within limits, and errors with line numbers.
struct YAMLFile: Sendable {
  /// The path, or another name for error messages.
  let name: String
  let hint: String

  /// Maximum nesting of lists and mappings.
  private static let depthMax = 32

  func error(_ reason: String, line: Int? = nil) -> SubledgerError {
    let place = line.map { ", line \($0)" } ?? ""
    return SubledgerError(.configuration, "\(name)\(place): \(reason)", hint: hint)
  }

  /// Returns the root of the file; nil when it is empty.
  func root(of bytes: [UInt8]) throws(SubledgerError) -> Node? {
    let text = try text(of: bytes)
    do throws(Fault) { return try root(of: text) } catch { throw self.error(error) }
  }

  /// Returns the root without the unindented entries that are not valid YAML, and their errors.
  func rootAndErrors(of bytes: [UInt8]) throws(SubledgerError) -> (Node?, [SubledgerError]) {
    var lines = try text(of: bytes).split(
      omittingEmptySubsequences: false, whereSeparator: \.isNewline)
    var errors: [SubledgerError] = []
    while true {
      do throws(Fault) {
        return (try root(of: lines.joined(separator: "\n")), errors)
      } catch {
        let entry = error.begin.map { Self.entry(around: $0 - 1, of: lines) } ?? lines.indices
        let isLast = errors.count >= 20 || lines[entry].allSatisfy(\.isEmpty)
        var fault = error
        if isLast || error.begin == nil {
          fault.reason += "; what follows is not checked"
        } else if entry.count > 1 {
          fault.reason += "; lines \(entry.lowerBound + 1) to \(entry.upperBound) are not checked"
        }
        errors.append(self.error(fault))
        if isLast { return (nil, errors) }
        for index in entry { lines[index] = "" }
      }
    }
  }

  /// Returns the lines from an unindented line to the next one.
  private static func entry(around line: Int, of lines: [Substring]) -> Range<Int> {
    func begins(_ line: Int) -> Bool {
      lines[line].first.map { !$0.isWhitespace && !"#-]}".contains($0) } ?? false
    }
    let line = max(0, min(line, lines.count - 1))
    let rest = line + 1..<lines.count
    return ((0...line).last(where: begins) ?? 0)..<(rest.first(where: begins) ?? lines.count)
  }

  /// A reason why a text is not valid YAML, or not allowed.
  private struct Fault: Error {
    var reason: String
    /// The line, if `reason` does not contain it.
    var line: Int?
    /// The line where the faulty value begins; nil if unknown.
    var begin: Int?
  }

  private func error(_ fault: Fault) -> SubledgerError { error(fault.reason, line: fault.line) }

  private func text(of bytes: [UInt8]) throws(SubledgerError) -> String {
    try utf8Text(of: bytes) { error($0, line: $1) }
  }

  private func root(of text: String) throws(Fault) -> Node? {
    try refuseUnbounded(text)
    let root: Node?
    do {
      root = try Yams.compose(yaml: text, .default, .default, .utf8)
    } catch {
      throw Self.fault(error)
    }
    guard let scalar = root?.scalar, scalar.style == .plain else { return root }
    return ["", "~", "null"].contains(scalar.string) ? nil : root
  }

  /// Refuses constructs that make a small file large in memory or that the library does not
  /// support: aliases, deep nesting, and lists or mappings as keys.
  private func refuseUnbounded(_ text: String) throws(Fault) {
    var parser = yaml_parser_t()
    guard yaml_parser_initialize(&parser) == 1 else {
      throw Fault(reason: "not enough memory to read it")
    }
    defer { yaml_parser_delete(&parser) }
    let problem = Array(text.utf8).withUnsafeBufferPointer { input -> (String, Int)? in
      yaml_parser_set_input_string(&parser, input.baseAddress, input.count)
      yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING)
      // For each open list (nil) or mapping: whether its next child is a key.
      var open: [Bool?] = []
      while true {
        var event = yaml_event_t()
        // The library reports the location of invalid YAML.
        guard yaml_parser_parse(&parser, &event) == 1 else { return nil }
        defer { yaml_event_delete(&event) }
        let isKey = open.last == .some(true)
        switch event.type {
        case YAML_STREAM_END_EVENT: return nil
        case YAML_ALIAS_EVENT: return ("aliases (*name) are not allowed", event.line)
        case YAML_SEQUENCE_START_EVENT, YAML_MAPPING_START_EVENT:
          if isKey { return ("a key must be a text, not a list or mapping", event.line) }
          open.append(event.type == YAML_MAPPING_START_EVENT ? true : nil)
          if open.count > Self.depthMax {
            return ("more than \(Self.depthMax) lists and mappings are nested", event.line)
          }
          continue
        case YAML_SEQUENCE_END_EVENT, YAML_MAPPING_END_EVENT: open.removeLast()
        case YAML_SCALAR_EVENT: break
        default: continue
        }
        if let last = open.last, let wasKey = last { open[open.count - 1] = !wasKey }
      }
    }
    if let (reason, line) = problem { throw Fault(reason: reason, line: line, begin: line) }
  }

  /// Returns where and why a file is not YAML, without the line itself, which may contain a secret.
  private static func fault(_ error: any Error) -> Fault {
    let reason = "not valid YAML"
    switch error as? YamlError {
    case .scanner(let context, let problem, let mark, _),
      .parser(let context, let problem, let mark, _),
      .composer(let context, let problem, let mark, _):
      // An unclosed value is only detected at its end.
      let isOpen = context.map { $0.text.contains("flow") || $0.text.contains("quoted") } ?? false
      return Fault(
        reason: "\(reason): line \(mark.line), column \(mark.column): \(problem)",
        begin: isOpen ? context?.mark.line : mark.line)
    case .duplicatedKeysInMapping(let keys, let context):
      let (key, line) = (keys.first ?? "", context.mark.line)
      return Fault(reason: "`\(key.shown())` is given twice", line: line, begin: line)
    case .reader(let problem, _, _, _): return Fault(reason: "\(reason): \(problem)")
    default: return Fault(reason: reason)
    }
  }
}

extension yaml_event_t {
  var line: Int { Int(start_mark.line) + 1 }
}
