import Domain

/// A setting for all feeds, for those of a provider, or for one app.
struct FeedValues<Value: Sendable>: Sendable {
  private struct Place: Hashable {
    var provider: Provider?
    var app: String?
  }

  private var values: [Place: Value] = [:]

  /// The value of a feed: its own, else its provider's, else that of all; nil without any.
  subscript(provider: Provider, app: String) -> Value? {
    values[Place(provider: provider, app: app)] ?? values[Place(provider: provider)]
      ?? values[Place()]
  }

  /// The values by `all`, `provider` or `provider/app`, as `value` makes them.
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
