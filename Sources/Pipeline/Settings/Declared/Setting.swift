import Domain

/// A setting, declared once: its name and value in the configuration file, which flags and
/// variables share, its default, what it is for, and how it is read.
///
/// To add one, add a property to `Configuration` and a row to one of the sections; an option of the
/// command line is a property of the same name in the command's options besides.
public struct Setting: Sendable {
  struct Traits: OptionSet, Sendable {
    let rawValue: Int

    /// It has an effect on the numbers: a run keeps it in the ledger.
    static let kept = Traits(rawValue: 1)
    /// Flags and variables give it, too.
    static let option = Traits(rawValue: 2)
    /// Its texts are masked wherever settings are shown.
    static let secret = Traits(rawValue: 4)
  }

  /// The name, such as `limits.rejected_share`.
  let name: String
  /// JSON Schema of its value.
  let schema: JSONValue
  var traits: Traits = []
  /// The default as the file would write it; empty without one.
  var standard = ""
  /// What holds where no value stands and `standard` is empty, in words.
  var otherwise = ""
  /// A value as the file would write it, where that is not `standard`; with lines for a list.
  var example = ""
  /// What it is for: the help of its option.
  let summary: String
  /// What else the file and the manual say of it; may be empty.
  var more = ""
  let read: @Sendable (inout Configuration, SettingValue) throws -> Void

  var isKept: Bool { traits.contains(.kept) }
  var isSecret: Bool { traits.contains(.secret) }
}

extension Setting {
  /// A setting whose value `set` puts into the configuration.
  init<Value>(
    _ name: String, _ form: SettingForm<Value>,
    _ set: @escaping @Sendable (inout Configuration, Value) -> Void, _ traits: Traits = [],
    default standard: String = "", otherwise: String = "", example: String = "",
    _ summary: String, more: String = ""
  ) {
    self.init(
      name: name, schema: form.schema, traits: traits, standard: standard, otherwise: otherwise,
      example: example, summary: summary, more: more
    ) { set(&$0, try form.read($1)) }
  }

  /// Every setting by section, as the file shows them and in the order in which the values of one
  /// source are read.
  static let sections: [(title: String, settings: [Setting])] = [
    ("Paths", paths), ("Time of the reports", times), ("Names of the provider", names),
    ("Secrets", secrets), ("Fetching", fetching), ("Deadlines", deadlines), ("Money", money),
    ("Reservations", reservations), ("Output", output), ("The run", process),
  ]

  static let all = sections.flatMap(\.settings)

  /// Settings that flags and variables give, too.
  static let options = all.filter { $0.traits.contains(.option) }

  /// What the option that is named like a setting is for, and its default.
  ///
  /// - Parameter name: that of the setting; text for another name is empty.
  public static func help(_ name: String) -> String {
    guard let setting = all.first(where: { $0.name == name }) else { return "" }
    return ["", "false"].contains(setting.fallback)
      ? setting.summary : "\(setting.summary) (default: \(setting.fallback))"
  }

  /// The default, as a value or in words.
  var fallback: String { standard.isEmpty ? otherwise : standard }

  /// What it is for and its default, in whole sentences.
  var description: String {
    let isShown = standard.isEmpty && !otherwise.isEmpty
    return [summary, more, isShown ? "Default: \(otherwise)." : ""].filter { !$0.isEmpty }
      .joined(separator: " ")
  }

  /// What to do about a wrong value in a file.
  var advice: String {
    "\(name): \(summary)" + (fallback.isEmpty ? "" : " Without it: \(fallback).")
  }
}
