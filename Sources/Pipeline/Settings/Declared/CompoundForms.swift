import Domain
import Formats
import Yams

/// A setting for all feeds, for those of a provider, or for one app.
struct FeedValues<Value: Sendable>: Sendable {
  /// The values by `all`, `provider` or `provider/app`.
  private(set) var named: [String: Value] = [:]

  /// Returns the value of a feed: its own, or its provider's, or that of all feeds; nil without
  /// any.
  subscript(provider: Provider, app: String) -> Value? {
    named["\(provider.name)/\(app)"] ?? named[provider.name] ?? named["all"]
  }

  mutating func set(_ value: Value, of provider: Provider? = nil, app: String? = nil) {
    let name = [provider?.name, app].compactMap(\.self).joined(separator: "/")
    named[name.isEmpty ? "all" : name] = value
  }
}

extension SettingForm {
  /// One value for all feeds, or a mapping of providers to one value or to one value per app.
  static func ofFeeds<Item>(_ form: SettingForm<Item>) -> Self where Value == FeedValues<Item> {
    let ofProvider: JSONValue = .any(form.schema, .mapping(to: form.schema))
    return Self(schema: .any(form.schema, .byProvider(ofProvider))) { value in
      var values = FeedValues<Item>()
      guard value.node.mapping != nil else {
        values.set(try form.read(value))
        return values
      }
      try value.forEach { entry in
        let provider = try entry.provider()
        guard entry.node.mapping != nil else {
          return values.set(try form.read(entry), of: provider)
        }
        try entry.forEach { values.set(try form.read($0), of: provider, app: $0.key) }
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
