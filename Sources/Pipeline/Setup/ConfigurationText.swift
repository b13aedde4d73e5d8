/// The text of a configuration file: every setting with its purpose; known settings with their
/// value, the others as comments with their default or an example.
struct ConfigurationText {
  /// Additional text at the top.
  var notes: [String] = []
  /// Values by the setting's name, in the notation of the file.
  var values: [String: String] = [:]
  /// Values to choose from, written as comments.
  var offers: [String: String] = [:]

  private static let columns = 100

  var text: String {
    var lines = Self.comment(
      """
      Settings of subledger. A # directly before a name marks a setting that is not set: it shows \
      the default, or an example where there is none. Remove the # to set it. Flags \
      override the environment (SUBLEDGER_OUT, SUBLEDGER_AS_OF, …), which overrides this file. \
      `subledger config check` finds every error. Durations: 90s, 10m, 24h, 60d, 41h10m, or \
      seconds.
      """)
    if !notes.isEmpty { lines += ["#"] + notes.flatMap(Self.comment) }
    for (title, settings) in Setting.sections {
      let rule = "# --- \(title) "
      lines += ["", rule + String(repeating: "-", count: 94 - rule.count)]
      var rest = settings[...]
      while let first = rest.first {
        let members = rest.prefix { $0.group == first.group }
        rest = rest.dropFirst(members.count)
        lines += [""] + block(Array(members), first.group)
      }
    }
    return lines.joined(separator: "\n") + "\n"
  }

  /// Returns the text of a setting, or of the settings of a group.
  private func block(_ members: [Setting], _ group: String) -> [String] {
    let own = members.first { $0.name == group }
    let nested = members.filter { $0.name != group }
    let head = own.map { Self.comment($0.description) } ?? []
    if let own, nested.isEmpty { return head + entry(own) }
    let isGiven = nested.contains { values[$0.name] != nil }
    let lines = nested.flatMap { Self.comment($0.description) + entry($0, isMarked: isGiven) }
    return head + (["\(group):"] + lines.map { "  \($0)" }).map { isGiven ? $0 : "#\($0)" }
  }

  /// Returns the key with its value, as a comment if it is not given and `isMarked`.
  private func entry(_ setting: Setting, isMarked: Bool = true) -> [String] {
    let key = setting.name.split(separator: ".").last.map(String.init) ?? setting.name
    let given = values[setting.name]
    let standard = setting.standard.isEmpty ? setting.example : setting.standard
    let shown = given ?? offers[setting.name] ?? standard
    var lines = shown.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    let first = lines.removeFirst()
    lines = ["\(key):" + (first.isEmpty ? "" : " \(first)")] + lines.map { "  \($0)" }
    return given == nil && isMarked ? lines.map { "#\($0)" } : lines
  }

  private static func comment(_ text: String) -> [String] {
    var lines: [String] = []
    var line = "#"
    for word in text.split(separator: " ") {
      if line.count + 1 + word.count > columns - 2 {
        lines.append(line)
        line = "#"
      }
      line += " \(word)"
    }
    return lines + [line]
  }
}
