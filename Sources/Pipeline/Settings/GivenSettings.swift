public import Domain
import Yams

/// The settings in flags, variables and the configuration file, and all their errors.
///
/// Flags override the environment, which overrides the file, which overrides the defaults.
public struct GivenSettings {
  /// The texts of each command-line option, by the setting's name.
  let flags: [String: [String]]
  /// The variables of the process, including secrets.
  let environment: [String: String]
  private(set) var configuration = Configuration()
  /// All values in ascending precedence: for a setting with two values, the later one counts.
  private(set) var values: [SettingValue] = []
  /// Errors in values, including those that another source overrides.
  private(set) var errors = SettingErrors()

  /// Reads the settings, flags by their setting's name; errors are collected.
  public init(flags: [String: [String]], environment: [String: String]) {
    (self.flags, self.environment) = (flags, environment)
    let flags = flags.map { name, texts in
      let nodes = texts.map { Node($0, .implicit, .doubleQuoted) }
      return SettingValue(name: name, node: nodes.count == 1 ? nodes[0] : Node(nodes), .flag)
    }
    let variables = variables(environment)
    do {
      let given = try (flags + variables).first { $0.name == "config" }?.path()
      let file = given ?? GivenPath(path: "subledger.yaml", place: "--config")
      if given != nil || mayExist(file.path) {
        let bytes = try fileContents(
          of: "the configuration", at: file.path, givenWith: file.place, missing: .configuration)
        try read(bytes, named: file.path)
      }
    } catch {
      errors.add(error)
    }
    read(variables)
    read(flags)
  }

  /// Reads the content of the file at `path`.
  init(_ bytes: [UInt8], named path: String) {
    (flags, environment) = ([:], [:])
    do { try read(bytes, named: path) } catch { errors.add(error) }
  }

  /// How to log, as far as the settings can be read.
  public var log: LogOptions { configuration.job.log }

  /// Returns the values of `SUBLEDGER_*` variables; colons separate lists, and an empty variable is
  /// treated as unset.
  ///
  /// `SUBLEDGER_SECRET_*` are reserved for secrets.
  private mutating func variables(_ environment: [String: String]) -> [SettingValue] {
    let known = (["config"] + Setting.options.map(\.name)).map { "SUBLEDGER_\($0.uppercased())" }
    var values: [SettingValue] = []
    for (variable, text) in environment.sorted(by: { $0.key < $1.key })
    where variable.hasPrefix("SUBLEDGER_") && !variable.hasPrefix("SUBLEDGER_SECRET_") {
      guard known.contains(variable) else {
        errors.add(
          SubledgerError(
            .usage,
            "unknown environment variable \(variable)\(suggestion(for: variable, among: known))",
            hint: "known are \(known.joined(separator: ", "))"))
        continue
      }
      guard !text.allSatisfy({ $0 == ":" }) else { continue }
      values.append(
        SettingValue(
          name: variable.dropFirst("SUBLEDGER_".count).lowercased(),
          node: Node(text, .implicit, .doubleQuoted), .environment))
    }
    return values
  }

  private mutating func read(_ bytes: [UInt8], named path: String) throws {
    let file = YAMLFile(name: path, hint: "subledger.example.yaml shows every setting")
    configuration.path = path
    let (root, invalid) = try file.rootAndErrors(of: bytes)
    for error in invalid { errors.add(error) }
    guard let root else { return }
    read(try leaves(of: SettingValue(name: "", node: root, .file(file))))
    let kept = Self.kept(of: root)
    guard !kept.isEmpty else { return }
    configuration.source = Array(try Yams.serialize(node: Node(kept), sortKeys: true).utf8)
  }

  /// Returns the settings of a mapping and of the groups in it.
  private mutating func leaves(of mapping: SettingValue) throws -> [SettingValue] {
    var leaves: [SettingValue] = []
    for entry in try mapping.entries() {
      let isLeaf = Setting.all.contains { $0.name == entry.name }
      let group = Setting.all.filter { $0.name.hasPrefix(entry.name + ".") }
      if !group.isEmpty, !isLeaf || entry.node.mapping != nil {
        do { leaves += try self.leaves(of: entry) } catch { errors.add(error) }
      } else if isLeaf {
        leaves.append(entry)
      } else {
        let place = entry.name.dropLast(entry.key.count)
        let known = Setting.all.map(\.name).filter { $0.hasPrefix(place) }
        errors.add(entry.unknown(among: known.map { String($0.dropFirst(place.count)) }))
      }
    }
    return leaves
  }

  private mutating func read(_ new: [SettingValue]) {
    values += new
    for setting in Setting.all {
      for value in new where value.name == setting.name {
        do {
          try setting.read(&configuration, value)
        } catch {
          errors.add(error, advice: setting.advice)
        }
      }
    }
  }

  /// Returns the settings that the ledger stores, selected by name, so that it contains neither
  /// secrets nor paths.
  private static func kept(of node: Node, in group: String = "") -> [(Node, Node)] {
    guard let mapping = node.mapping else { return [] }
    return mapping.compactMap { key, value in
      let name = group + (key.scalar?.string ?? "")
      if Setting.all.contains(where: { $0.name == name && $0.isKept }) { return (key, value) }
      let inner = kept(of: value, in: name + ".")
      return inner.isEmpty ? nil : (key, Node(inner))
    }
  }
}

extension GivenSettings {
  /// Throws the first error, of kind `usage` or `configuration`, with a hint if there are others.
  public func check() throws(SubledgerError) {
    guard var first = errors.all.first else { return }
    if errors.all.count > 1 {
      let separator = first.hint.hasSuffix(".") ? " " : "; "
      first.hint += separator + "`subledger config check` lists all errors"
    }
    throw first
  }

  /// Returns the configuration, or throws the first error.
  func accepted() throws(SubledgerError) -> Configuration {
    try check()
    return configuration
  }
}
