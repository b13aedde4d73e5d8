import Domain
import Yams

/// A setting for all feeds, for those of a provider, or for one app.
struct FeedValues<Value: Sendable>: Sendable {
  private struct Place: Hashable {
    var provider: Provider?
    var app: String?
  }

  private var values: [Place: Value] = [:]

  /// Returns the value of a feed: its own, or its provider's, or that of all feeds; nil without
  /// any.
  subscript(provider: Provider, app: String) -> Value? {
    values[Place(provider: provider, app: app)] ?? values[Place(provider: provider)]
      ?? values[Place()]
  }

  /// Returns the values by `all`, `provider` or `provider/app`, as converted by `value`.
  func json(_ value: (Value) -> JSONValue) -> JSONValue {
    .object(
      Dictionary(
        uniqueKeysWithValues: values.map { place, item in
          let name = [place.provider?.name, place.app].compactMap(\.self).joined(separator: "/")
          return (name.isEmpty ? "all" : name, value(item))
        }))
  }

  mutating func set(_ value: Value, of provider: Provider? = nil, app: String? = nil) {
    values[Place(provider: provider, app: app)] = value
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
