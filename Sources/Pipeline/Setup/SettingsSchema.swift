import Domain

extension Setting {
  /// JSON Schema (draft 7) of the configuration file, for editors.
  public static var schema: String {
    let names = all.reduce(into: [String]()) { names, setting in
      if names.last != setting.group { names.append(setting.group) }
    }
    let properties = names.map { group in
      let nested = all.filter { $0.group == group && $0.name != group }
      let members = nested.map { (String($0.name.dropFirst(group.count + 1)), $0.described) }
      let leaf = all.first { $0.name == group }?.described
      let whole = JSONValue.mapping(Dictionary(uniqueKeysWithValues: members))
      return (group, leaf.map { nested.isEmpty ? $0 : .any($0, whole) } ?? whole)
    }
    let root: [String: JSONValue] = [
      "$schema": .string("http://json-schema.org/draft-07/schema#"),
      "title": .string("Configuration of subledger"), "type": .string("object"),
      "properties": .object(Dictionary(uniqueKeysWithValues: properties)),
      "additionalProperties": .bool(false),
    ]
    return String(decoding: JSONValue.object(root).document(), as: UTF8.self)
  }

  /// The first part of the name: that of the setting itself, or of its group.
  var group: String { String(name.prefix { $0 != "." }) }

  private var described: JSONValue {
    guard case .object(var members) = schema else { return schema }
    let shown = standard.isEmpty ? "" : " Default: \(standard)."
    members["description"] = .string(description + shown)
    return .object(members)
  }
}
