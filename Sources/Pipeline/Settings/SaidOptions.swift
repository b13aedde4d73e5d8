/// Who said an option.
enum OptionSource {
  case commandLine
  case environment
  /// The configuration file at a path.
  case file(String)

  /// Where whoever looks for `name` finds it.
  func place(of name: OptionName) -> String {
    switch self {
    case .commandLine: name.flag
    case .environment: "the environment variable \(name.variable)"
    case .file(let path): "`\(name.rawValue)` in the configuration \(path)"
    }
  }

  /// `value` of `name` breaks `rule`: told in the words of whoever wrote it, where it stands.
  func wrong(
    _ name: OptionName, _ value: String, _ rule: String, hint: String
  ) -> SubledgerError {
    let shown = value.isEmpty ? "\"\"" : value
    return switch self {
    case .commandLine: SubledgerError(.usage, "\(name.flag) \(shown) \(rule)", hint: hint)
    case .environment:
      SubledgerError(
        .usage, "the environment variable \(name.variable)=\(shown) \(rule)", hint: hint)
    case .file(let path):
      SubledgerError(
        .configuration, "in the configuration \(path), `\(name.rawValue): \(shown)` \(rule)",
        hint: hint)
    }
  }
}

/// Options in layers, each with who said it: what an earlier layer says beats a later one.
struct SaidOptions {
  private var layers: [(source: OptionSource, options: Options)] = []

  /// What the command line and the environment say.
  ///
  /// - Throws: `SubledgerError` of kind `usage` for what makes no sense.
  init(flags: Options, environment: [String: String]) throws(SubledgerError) {
    try add(flags, from: .commandLine)
    try add(Options(environment: environment), from: .environment)
  }

  /// Lays `options` below all that were said before; one that makes no sense is refused, also when
  /// another layer beats it.
  mutating func add(_ options: Options, from source: OptionSource) throws(SubledgerError) {
    for name in OptionName.allCases { try Self.check(name, options, source) }
    layers.append((source, options))
  }

  /// What the first layer says that says something.
  subscript<Value>(path: KeyPath<Options, Value?>) -> Value? {
    layers.lazy.compactMap { $0.options[keyPath: path] }.first
  }

  /// What `read` makes of the text of `name`; nil when nobody said it.
  ///
  /// - Throws: `SubledgerError` with `rule` and `hint` when `read` makes nothing of it, also where
  ///   another layer beats it.
  func value<Value>(
    _ name: OptionName, _ rule: String, hint: String, read: (String) -> Value?
  ) throws(SubledgerError) -> Value? {
    guard case .text(let path) = name.slot else { return nil }
    var first: Value?
    for (source, options) in layers {
      guard let text = options[keyPath: path] else { continue }
      guard let value = read(text) else { throw source.wrong(name, text, rule, hint: hint) }
      first = first ?? value
    }
    return first
  }

  /// The path that `name` gives, and who says so; nil when nobody does.
  func path(_ name: OptionName) -> SaidPath? {
    guard case .text(let key) = name.slot else { return nil }
    for (source, options) in layers {
      guard let path = options[keyPath: key] else { continue }
      return SaidPath(path: path, place: source.place(of: name))
    }
    return nil
  }

  /// How many layers lie above the one that says `path`.
  func depth<Value>(of path: KeyPath<Options, Value?>) -> Int {
    layers.firstIndex { $0.options[keyPath: path] != nil } ?? layers.count
  }

  private static func check(
    _ name: OptionName, _ options: Options, _ source: OptionSource
  ) throws(SubledgerError) {
    switch name.slot {
    case .text(let path):
      if options[keyPath: path]?.isEmpty == true { throw empty(name, source) }
    case .list(let path):
      if options[keyPath: path]?.contains("") == true { throw empty(name, source) }
    case .number(let path, let range):
      guard let number = options[keyPath: path], !range.contains(number) else { return }
      throw source.wrong(name, "\(number)", "is out of range", hint: range.hint)
    case .word(let path, let known):
      guard let word = options[keyPath: path], !known.contains(word) else { return }
      throw source.wrong(
        name, word, "is unknown", hint: "choose one of \(known.joined(separator: ", "))")
    case .flag: return
    }
  }

  private static func empty(_ name: OptionName, _ source: OptionSource) -> SubledgerError {
    source.wrong(name, "", "says nothing", hint: "give it a value, or leave it out")
  }
}
