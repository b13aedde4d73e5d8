import Domain
import Providers
import Yams

/// How the value of a setting is written: what a schema says of it, and how it is read.
struct SettingForm<Value>: Sendable {
  let schema: JSONValue
  let read: @Sendable (SettingValue) throws -> Value
}

extension JSONValue {
  static let text: JSONValue = .object(["type": .strings(["string", "integer"])])

  static func strings(_ texts: [String]) -> JSONValue { .array(texts.map(JSONValue.string)) }

  static func string(like pattern: String, orNumber number: [String: JSONValue] = [:]) -> JSONValue
  {
    let types = number.isEmpty ? JSONValue.string("string") : .strings(["string", "number"])
    return .object(number.merging(["type": types, "pattern": .string(pattern)]) { $1 })
  }

  static func any(_ schemas: JSONValue...) -> JSONValue { .object(["anyOf": .array(schemas)]) }

  static func list(of item: JSONValue) -> JSONValue {
    .any(item, .object(["type": .string("array"), "items": item]))
  }

  static func mapping(to value: JSONValue) -> JSONValue {
    .object(["type": .string("object"), "additionalProperties": value])
  }

  static func mapping(_ members: [String: JSONValue]) -> JSONValue {
    .object([
      "type": .string("object"), "properties": .object(members),
      "additionalProperties": .bool(false),
    ])
  }

  static func byProvider(_ value: JSONValue) -> JSONValue {
    .mapping(
      Dictionary(uniqueKeysWithValues: Provider.allCases.map { ($0.name, value) }))
  }
}

extension SettingForm<String> {
  static var text: Self { Self(schema: .text) { try $0.text() } }
}

extension SettingForm<GivenPath> {
  static var path: Self { Self(schema: .text) { try $0.path() } }
}

extension SettingForm<[String]> {
  /// A text or a list of them.
  static var texts: Self { Self(schema: .list(of: .text)) { try $0.list() } }
}

extension SettingForm<Int> {
  static func number(in range: ClosedRange<Int>) -> Self {
    let schema: JSONValue = .object([
      "type": .string("integer"), "minimum": .integer(Int64(range.lowerBound)),
      "maximum": .integer(Int64(range.upperBound)),
    ])
    return Self(schema: schema) { try $0.number(in: range) }
  }
}

extension SettingForm<Bool> {
  static var flag: Self {
    Self(schema: .object(["type": .string("boolean")])) { try $0.flag() }
  }
}

extension SettingForm where Value: RawRepresentable<String> & CaseIterable & SendableMetatype {
  static var choice: Self {
    Self(schema: .object(["enum": .strings(Value.allCases.map(\.rawValue))])) {
      try $0.choice()
    }
  }
}

extension SettingForm<Interval> {
  static var duration: Self {
    Self(schema: .string(like: "^([0-9]+|([0-9]+[dhms])+)$", orNumber: ["minimum": .integer(0)])) {
      try $0.duration()
    }
  }
}

extension SettingForm<RetrySchedule> {
  static var schedule: Self {
    Self(schema: .list(of: SettingForm<Interval>.duration.schema)) { try $0.schedule() }
  }
}

extension SettingForm<Amount> {
  /// US dollars.
  static var amount: Self {
    Self(schema: .string(like: #"^[0-9]+(\.[0-9]+)?$"#, orNumber: ["minimum": .integer(0)])) {
      try $0.amount()
    }
  }

  static var share: Self {
    let fraction: [String: JSONValue] = ["minimum": .integer(0), "maximum": .integer(1)]
    return Self(schema: .string(like: #"^[0-9]+(\.[0-9]+)?%?$"#, orNumber: fraction)) {
      try $0.share()
    }
  }
}

extension SettingForm<String> {
  static var webAddress: Self {
    Self(schema: .string(like: #"^(ping\+)?https?://"#)) { try $0.webAddress() }
  }
}

extension SettingForm<[ReaderCommands]> {
  /// Prefixes of paths, each with two commands: texts, or lists of words.
  static var readers: Self {
    let command = JSONValue.list(of: .text)
    return Self(schema: .mapping(to: .mapping(["list": command, "read": command]))) {
      try $0.readers()
    }
  }
}

extension SettingForm<GivenTime> {
  static var time: Self {
    Self(schema: .string(like: "^[0-9]{4}-[0-9]{2}-[0-9]{2}([T ].+)?$")) { try $0.time() }
  }
}

extension SettingForm<CivilCalendar> {
  static var timeZone: Self { Self(schema: .string(like: "^[A-Za-z]")) { try $0.timeZone() } }
}

extension SettingForm<PeriodLength> {
  static var period: Self { Self(schema: .string(like: "^P[0-9]+[DWMY]$")) { try $0.period() } }
}

extension SettingForm<[Provider]> {
  static var authority: Self {
    let name: JSONValue = .object(["enum": .strings(Provider.allCases.map(\.name))])
    return Self(schema: .list(of: name)) { try $0.authority() }
  }
}

extension SettingForm<[Provider: [SecretSource]]> {
  /// A provider's secret: `{env: NAME}`, `{file: PATH}`, the text itself, or a list of these.
  static var secrets: Self {
    let source: JSONValue = .any(
      .object(["type": .string("string")]), .mapping(["env": .text]), .mapping(["file": .text]),
      .mapping(["credential": .text]))
    return Self(schema: .byProvider(.list(of: source))) { try $0.secrets() }
  }
}

extension SettingForm {
  /// Names that people choose, each with a value of `form`.
  static func byName<Item>(_ form: SettingForm<Item>) -> Self where Value == [String: Item] {
    Self(schema: .mapping(to: form.schema)) { value in
      var items: Value = [:]
      try value.forEach { items[$0.key] = try form.read($0) }
      return items
    }
  }

  /// Providers, each with a value of `form`.
  static func byProvider<Item>(_ form: SettingForm<Item>) -> Self
  where Value == [Provider: Item] {
    Self(schema: .byProvider(form.schema)) { value in
      var items: Value = [:]
      try value.forEach { items[try $0.provider()] = try form.read($0) }
      return items
    }
  }

  /// One value for all feeds, or a mapping of providers to a value or to one of each app.
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
