import CYaml

/// What a file that a person wrote must keep to before the library may make values of it.
///
/// A few lines in which each names the one before it ten times by an alias (`*name`) come to more
/// than any memory holds, and the library traps at a list or mapping that is a key.
enum YAMLBounds {
  /// Values that aliases may repeat in all.
  static let repeatedMax = 100_000
  /// Lists and mappings in one another, with those that aliases repeat.
  static let depthMax = 32

  /// What to do about a file beyond the bounds.
  static let hint = "write every key as a plain text, and values out where they are meant"

  /// What is beyond the bounds; nil when nothing is, and for what is no YAML.
  ///
  /// It must be the very text that the library gets.
  static func problem(in text: String) -> String? {
    var parser = yaml_parser_t()
    guard yaml_parser_initialize(&parser) == 1 else { return "there is no memory to read it" }
    defer { yaml_parser_delete(&parser) }
    return Array(text.utf8).withUnsafeBufferPointer { input in
      yaml_parser_set_input_string(&parser, input.baseAddress, input.count)
      yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING)
      var weights = Weights()
      while true {
        var event = yaml_event_t()
        // Where the text stops to be YAML, the library says so.
        guard yaml_parser_parse(&parser, &event) == 1 else { return nil }
        defer { yaml_event_delete(&event) }
        if event.type == YAML_STREAM_END_EVENT { return nil }
        weights.take(event)
        if let problem = weights.problem {
          return ": line \(event.start_mark.line + 1): \(problem)"
        }
      }
    }
  }
}

/// How much each anchor stands for.
private struct Weights {
  private struct Weight {
    var values = 1
    var depth = 0
  }

  private struct Open {
    var anchor: String?
    var weight = Weight()
    var isMapping = false
    var children = 0

    /// Whether the next child is a key.
    var wantsKey: Bool { isMapping && children % 2 == 0 }
  }

  private var anchors: [String: Weight] = [:]
  private var open: [Open] = []
  private var repeated = 0

  /// Why what was taken is too much.
  private(set) var problem: String?

  mutating func take(_ event: yaml_event_t) {
    switch event.type {
    case YAML_ALIAS_EVENT:
      let weight = name(event.data.alias.anchor).flatMap { anchors[$0] } ?? Weight()
      repeated += weight.values
      if repeated > YAMLBounds.repeatedMax {
        problem = "aliases repeat more than \(YAMLBounds.repeatedMax) values"
      }
      add(weight)
    case YAML_SCALAR_EVENT: close(Open(anchor: name(event.data.scalar.anchor)))
    case YAML_SEQUENCE_START_EVENT:
      begin(name(event.data.sequence_start.anchor), isMapping: false)
    case YAML_MAPPING_START_EVENT:
      begin(name(event.data.mapping_start.anchor), isMapping: true)
    case YAML_SEQUENCE_END_EVENT, YAML_MAPPING_END_EVENT:
      if let last = open.popLast() { close(last) }
    default: break
    }
  }

  private mutating func begin(_ anchor: String?, isMapping: Bool) {
    let weight = Weight(values: 1, depth: 1)
    check(weight)
    open.append(Open(anchor: anchor, weight: weight, isMapping: isMapping))
  }

  private mutating func close(_ node: Open) {
    if let anchor = node.anchor { anchors[anchor] = node.weight }
    add(node.weight)
  }

  /// Adds a node to the one that holds it.
  private mutating func add(_ weight: Weight) {
    check(weight)
    guard let holder = open.indices.last else { return }
    open[holder].children += 1
    open[holder].weight.values += weight.values
    open[holder].weight.depth = max(open[holder].weight.depth, weight.depth + 1)
  }

  private mutating func check(_ weight: Weight) {
    if open.count + weight.depth > YAMLBounds.depthMax {
      problem = "more than \(YAMLBounds.depthMax) lists and mappings stand in one another"
    }
    if weight.depth > 0, open.last?.wantsKey == true {
      problem = "a key must be a text, not a list or mapping; a `?` before it makes it a key"
    }
  }

  private func name(_ text: UnsafeMutablePointer<yaml_char_t>?) -> String? {
    text.map { String(cString: $0) }
  }
}
