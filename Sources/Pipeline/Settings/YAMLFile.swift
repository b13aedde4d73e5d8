import Domain
import CYaml
import Yams

/// A YAML file that a person wrote: its root, within bounds, and errors that name its lines.
struct YAMLFile: Sendable {
  /// The path, or another name for readers.
  let name: String
  /// What to do about an error in it.
  let hint: String

  /// Lists and mappings in one another.
  private static let depthMax = 32

  func error(_ reason: String, line: Int? = nil) -> SubledgerError {
    let place = line.map { ", line \($0)" } ?? ""
    return SubledgerError(.configuration, "\(name)\(place): \(reason)", hint: hint)
  }

  /// The root of the file; nil when it is empty.
  func root(of bytes: [UInt8]) throws(SubledgerError) -> Node? {
    let content = bytes.starts(with: [0xef, 0xbb, 0xbf]) ? bytes.dropFirst(3) : bytes[...]
    guard let text = String(validating: content, as: UTF8.self) else {
      let lines = content.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
      let line = lines.firstIndex { String(validating: $0, as: UTF8.self) == nil } ?? 0
      throw error("the line is not UTF-8; save the file as UTF-8", line: line + 1)
    }
    try refuseUnbounded(text)
    let root: Node?
    do {
      root = try Yams.compose(yaml: text, .default, .default, .utf8)
    } catch {
      throw self.error("not valid YAML" + Self.problem(error))
    }
    guard let scalar = root?.scalar, scalar.style == .plain else { return root }
    return ["", "~", "null"].contains(scalar.string) ? nil : root
  }

  /// Refuses what makes a small file large in memory, or that the library cannot take: aliases,
  /// deep nesting, and lists or mappings as keys.
  private func refuseUnbounded(_ text: String) throws(SubledgerError) {
    var parser = yaml_parser_t()
    guard yaml_parser_initialize(&parser) == 1 else { throw error("not enough memory to read it") }
    defer { yaml_parser_delete(&parser) }
    let problem = Array(text.utf8).withUnsafeBufferPointer { input -> (String, Int)? in
      yaml_parser_set_input_string(&parser, input.baseAddress, input.count)
      yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING)
      // Of each open list (nil) or mapping: whether its next child is a key.
      var open: [Bool?] = []
      while true {
        var event = yaml_event_t()
        // The library reports invalid YAML with its place.
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
    if let (reason, line) = problem { throw error(reason, line: line) }
  }

  /// Where a file is not YAML and why; without the line itself, which may hold a secret.
  private static func problem(_ error: any Error) -> String {
    switch error as? YamlError {
    case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
      .composer(_, let problem, let mark, _):
      ": line \(mark.line), column \(mark.column): \(problem)"
    case .duplicatedKeysInMapping(_, let context):
      ": line \(context.mark.line): the mapping has a key twice"
    case .reader(let problem, _, _, _): ": \(problem)"
    default: ""
    }
  }
}

extension yaml_event_t {
  var line: Int { Int(start_mark.line) + 1 }
}
