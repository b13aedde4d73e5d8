import Domain
import Formats
import Yams

/// A setting by `all` feeds, `provider` or `provider/app`.
typealias FeedValues<Value> = [String: Value]

extension Dictionary where Key == String {
  /// Returns the value of a feed: its own, or its provider's, or that of all feeds; nil without
  /// any.
  subscript(provider: Provider, app: String) -> Value? {
    self["\(provider.name)/\(app)"] ?? self[provider.name] ?? self["all"]
  }
}

extension SettingForm {
  /// One value for all feeds, or a mapping of providers to one value or to one value per app.
  static func ofFeeds<Item>(_ form: SettingForm<Item>) -> Self where Value == FeedValues<Item> {
    let ofProvider: JSONValue = .any(form.schema, .mapping(to: form.schema))
    return Self(schema: .any(form.schema, .byProvider(ofProvider))) { value in
      guard value.node.mapping != nil else { return ["all": try form.read(value)] }
      var values: Value = [:]
      try value.forEach { entry in
        let provider = try entry.provider().name
        guard entry.node.mapping != nil else {
          return values[provider] = try form.read(entry)
        }
        try entry.forEach { values["\(provider)/\($0.key)"] = try form.read($0) }
      }
      return values
    }
  }
}

extension SettingForm<[ArchiveCommands]> {
  /// `{"s3://": {list: command, read: command}}`; a command is a text, which is split at spaces, or
  /// a list of words.
  static var readers: Self {
    let command = JSONValue.list(of: .text)
    return Self(schema: .mapping(to: .mapping(["list": command, "read": command]))) { value in
      var readers: [ArchiveCommands] = []
      try value.forEach { entry in
        guard entry.key.contains(":") else {
          throw entry.refused("a path in the file system begins so; use a prefix such as s3://")
        }
        var commands: [String: [String]] = [:]
        try entry.forEach { field in
          guard ["list", "read"].contains(field.key) else {
            throw field.unknown(among: ["list", "read"])
          }
          let words =
            try field.node.scalar == nil
            ? field.list() : field.text().split(separator: " ").map(String.init)
          guard words.contains(where: { $0.contains("{path}") || $0.contains("{key}") }) else {
            throw field.refused("the command needs {path}, or {bucket} and {key}")
          }
          commands[field.key] = words
        }
        guard let list = commands["list"], let read = commands["read"] else {
          throw entry.refused("list and read are needed, a command each")
        }
        readers.append(ArchiveCommands(prefix: entry.key, list: list, read: read))
      }
      return readers
    }
  }
}
