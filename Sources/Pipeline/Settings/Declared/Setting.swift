import Domain

/// The declaration of a setting: its name and value in the configuration file, which flags and
/// variables share, its default, its purpose, and how it is read.
///
/// To add one, add a property to `Configuration` and a row to one of the sections; an option of the
/// command line also needs a property of the same name in the command's options.
public struct Setting: Sendable {
  enum Trait {
    /// It affects the numbers: a run stores it in the ledger.
    case kept
    /// Flags and variables can also set it.
    case option
    /// Its texts are masked wherever settings are shown.
    case secret
  }

  /// The name, such as `limits.rejected_share`.
  let name: String
  /// JSON Schema of its value.
  let schema: JSONValue
  var traits: Set<Trait> = []
  /// The default in the notation of the file; empty if there is none.
  var standard = ""
  /// Description of the behaviour without a value, if `standard` is empty.
  var whenUnset = ""
  /// An example in the notation of the file, if it is not `standard`; several lines for a list.
  var example = ""
  /// Its purpose: the help of its option.
  let summary: String
  /// Additional text for the file and the manual; may be empty.
  var more = ""
  let read: @Sendable (inout Configuration, SettingValue) throws -> Void

  var isKept: Bool { traits.contains(.kept) }
  var isSecret: Bool { traits.contains(.secret) }
}

extension Setting {
  /// Declares a setting whose value `set` puts into the configuration.
  init<Value>(
    _ name: String, _ form: SettingForm<Value>,
    _ set: @escaping @Sendable (inout Configuration, Value) -> Void, _ traits: Set<Trait> = [],
    default standard: String = "", whenUnset: String = "", example: String = "",
    _ summary: String, more: String = ""
  ) {
    self.init(
      name: name, schema: form.schema, traits: traits, standard: standard, whenUnset: whenUnset,
      example: example, summary: summary, more: more
    ) { set(&$0, try form.read($1)) }
  }

  /// Every setting by section, in the order of the file, which is also the order in which the
  /// values of one source are read.
  static let sections: [(title: String, settings: [Setting])] = [
    ("Paths", paths), ("Time of the reports", times), ("Names of the provider", names),
    ("Secrets", secrets), ("Fetching", fetching), ("Deadlines", deadlines), ("Money", money),
    ("Reservations", reservations), ("Output", output), ("The run", process),
  ]

  static let all = sections.flatMap(\.settings)

  /// Settings that flags and variables can also set.
  static let options = all.filter { $0.traits.contains(.option) }

  /// Returns the purpose and default of the option with the name of a setting.
  ///
  /// - Parameter name: the name of the setting; for another name the text is empty.
  public static func help(_ name: String) -> String {
    guard let setting = all.first(where: { $0.name == name }) else { return "" }
    return ["", "false"].contains(setting.fallback)
      ? setting.summary : "\(setting.summary) (default: \(setting.fallback))"
  }

  /// The default, as a value or a description.
  var fallback: String { standard.isEmpty ? whenUnset : standard }

  /// Its purpose and default, in complete sentences.
  var description: String {
    let isShown = standard.isEmpty && !whenUnset.isEmpty
    return [summary, more, isShown ? "Default: \(whenUnset)." : ""].filter { !$0.isEmpty }
      .joined(separator: " ")
  }

  /// What to do about a wrong value in a file.
  var advice: String {
    "\(name): \(summary)" + (fallback.isEmpty ? "" : " Without it: \(fallback).")
  }
}

extension Setting {
  /// JSON Schema (draft 7) of the configuration file, for editors.
  public static var schema: String {
    let properties = Dictionary(grouping: all, by: \.group).map { group, settings in
      let nested = settings.filter { $0.name != group }
      let members = nested.map { (String($0.name.dropFirst(group.count + 1)), $0.described) }
      let leaf = settings.first { $0.name == group }?.described
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
