import Domain
import Foundation
import Yams

/// The notation of a setting's value: its schema, and how it is read.
struct SettingForm<Value>: Sendable {
  let schema: JSONValue
  let read: @Sendable (SettingValue) throws -> Value
}

extension SettingForm {
  /// A text that `parse` understands, as `expected` describes it; a `required` text has an error of
  /// its own when it is empty.
  init(
    _ schema: JSONValue, isNot expected: String, required: Bool = false,
    _ parse: @escaping @Sendable (String) -> Value?
  ) {
    self.init(schema: schema) {
      let text = try required ? $0.text() : $0.node.scalar?.string ?? ""
      guard let value = parse(text) else { throw $0.isNot(expected) }
      return value
    }
  }
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

  /// The address of a hook, or, after `ping+`, an address for GET requests; no message shows it,
  /// because anyone who has it can use it.
  static var webAddress: Self {
    Self(schema: .string(like: #"^(ping\+)?https?://"#)) {
      let text = $0.node.scalar?.string ?? ""
      guard text.prefixMatch(of: /(ping\+)?https?:\/\//) != nil else {
        throw $0.refused("the value does not begin with https://, http:// or ping+https://")
      }
      return text
    }
  }
}

extension SettingForm<GivenPath> {
  static var path: Self { Self(schema: .text) { try $0.path() } }
}

extension SettingForm<[String]> {
  /// A text or a list of texts.
  static var texts: Self { Self(schema: .list(of: .text)) { try $0.list() } }
}

extension SettingForm<Int> {
  static func number(in range: ClosedRange<Int>) -> Self {
    let schema: JSONValue = .object([
      "type": .string("integer"), "minimum": .integer(Int64(range.lowerBound)),
      "maximum": .integer(Int64(range.upperBound)),
    ])
    return Self(schema, isNot: "a whole number from \(range.lowerBound) to \(range.upperBound)") {
      Int($0).flatMap { range.contains($0) ? $0 : nil }
    }
  }
}

extension SettingForm<Bool> {
  static var flag: Self {
    Self(.object(["type": .string("boolean")]), isNot: "true or false") {
      switch $0.lowercased() {
      case "true", "yes", "on", "1": true
      case "false", "no", "off", "0": false
      default: nil
      }
    }
  }
}

extension SettingForm where Value: RawRepresentable<String> & CaseIterable & SendableMetatype {
  static var choice: Self {
    let names = Value.allCases.map(\.rawValue)
    return Self(
      .object(["enum": .strings(names)]), isNot: "one of " + names.joined(separator: ", ")
    ) { Value(rawValue: $0) }
  }
}

extension SettingForm<Interval> {
  /// `24h`, `41h10m`, `60d`, `90s`, or a number of seconds.
  ///
  /// At most a hundred years, so that no sum of durations and instants overflows.
  static var duration: Self {
    Self(
      .string(like: "^([0-9]+|([0-9]+[dhms])+)$", orNumber: ["minimum": .integer(0)]),
      isNot: "a duration such as 24h, 41h10m or 60d, at most 36525d"
    ) {
      let seconds = Int64($0).flatMap { 0...1 << 40 ~= $0 ? Interval.seconds($0) : nil }
      return (seconds ?? Interval(units: $0)).flatMap { $0 <= .days(36_525) ? $0 : nil }
    }
  }
}

extension SettingForm<RetrySchedule> {
  /// `[1m, 6m, 4h]`: the time from the first attempt to each retry; `[]` for none.
  static var schedule: Self {
    let duration = SettingForm<Interval>.duration
    return Self(schema: .list(of: duration.schema)) {
      let seconds = try $0.items().map { try duration.read($0).milliseconds / 1000 }
      guard let schedule = RetrySchedule(retriesAfter: seconds) else {
        throw $0.refused("the times from the first attempt to each retry must rise")
      }
      return schedule
    }
  }
}

extension SettingForm<Amount> {
  /// An amount of US dollars such as `50` or `0.99`.
  static var amount: Self {
    Self(
      .string(like: #"^[0-9]+(\.[0-9]+)?$"#, orNumber: ["minimum": .integer(0)]),
      isNot: "an amount such as 50 or 0.99, at most 10¹², with at most six decimals"
    ) { Amount(typed: $0) }
  }

  /// A share such as `0.01` or `1%`, in millionths; above 1 only as `500%`, because a 5 without a
  /// sign is usually meant as a percentage.
  static var share: Self {
    let fraction: [String: JSONValue] = ["minimum": .integer(0), "maximum": .integer(1)]
    return Self(
      .string(like: #"^[0-9]+(\.[0-9]+)?%?$"#, orNumber: fraction),
      isNot: "a share such as 0.01 or 1%, in whole millionths; above 1 write 500%, not 5"
    ) { written in
      let isPercent = written.hasSuffix("%")
      let parts: Int64 = isPercent ? 100 : 1
      // Rounding is refused: a small share must not become 0.
      guard let amount = Amount(typed: isPercent ? String(written.dropLast()) : written),
        amount.micros % parts == 0, isPercent || amount.micros <= 1_000_000
      else { return nil }
      return Amount(micros: amount.micros / parts)
    }
  }
}

extension SettingForm<GivenTime> {
  /// A date, or an RFC 3339 time with an offset.
  static var time: Self {
    Self(
      .string(like: "^[0-9]{4}-[0-9]{2}-[0-9]{2}([T ].+)?$"),
      isNot: "a date such as 2026-11-20, or a time with offset such as 2026-11-20T06:00:00Z",
      required: true
    ) { GivenTime($0) }
  }
}

extension SettingForm<CivilCalendar> {
  static var timeZone: Self {
    Self(schema: .string(like: "^[A-Za-z]")) {
      let name = try $0.text()
      guard let calendar = CivilCalendar(named: name) else {
        let meant = suggestion(for: name, among: TimeZone.knownTimeZoneIdentifiers)
        let advice = meant.isEmpty ? ", use one such as Europe/Berlin" : meant
        throw $0.refused("unknown time zone \"\(name)\"\(advice)")
      }
      return calendar
    }
  }
}

extension SettingForm<PeriodLength> {
  static var period: Self {
    Self(
      .string(like: "^P[0-9]+[DWMY]$"), isNot: "an ISO 8601 period such as P1M, P1Y or P7D",
      required: true
    ) { PeriodLength(iso: $0) }
  }
}

extension SettingForm<EventKind> {
  static var eventKind: Self {
    let names = EventKind.allCases.map(\.name)
    return Self(
      .object(["enum": .strings(names)]), isNot: "one of " + names.joined(separator: ", "),
      required: true
    ) { EventKind(name: $0) }
  }
}

extension SettingForm<[Provider]> {
  /// Providers, without repetition.
  static var authority: Self {
    let names = Provider.allCases.map(\.name)
    return Self(schema: .list(of: .object(["enum": .strings(names)]))) {
      var providers: [Provider] = []
      for name in try $0.list() {
        guard let provider = Provider(name: name) else {
          throw $0.refused("\(name.shown()) is not one of " + names.joined(separator: ", "))
        }
        guard !providers.contains(provider) else { throw $0.refused("\(name) is named twice") }
        providers.append(provider)
      }
      return providers
    }
  }
}

extension SettingValue {
  /// Parses the provider in the key of the value.
  func provider() throws(SubledgerError) -> Provider {
    guard let provider = Provider(name: key) else {
      throw unknown(among: Provider.allCases.map(\.name))
    }
    return provider
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

  /// Thresholds of severities: values of `form` in ascending order; `standard` contains those that
  /// are not given, and `what` names them in errors.
  static func steps<Item: Comparable & Sendable>(
    of form: SettingForm<Item>, _ what: String, from standard: [Severity: Item]
  ) -> Self where Value == [Severity: Item] {
    let severities: [Severity] = [.medium, .high, .critical]
    let names = severities.map(\.rawValue)
    let members = Dictionary(uniqueKeysWithValues: names.map { ($0, form.schema) })
    return Self(schema: .mapping(members)) { value in
      var steps = standard
      try value.forEach { entry in
        guard let severity = severities.first(where: { $0.rawValue == entry.key }) else {
          throw entry.unknown(among: names)
        }
        steps[severity] = try form.read(entry)
      }
      let given = severities.compactMap { steps[$0] }
      guard given == given.sorted() else {
        throw value.refused("the \(what) must rise from medium to high to critical")
      }
      return steps
    }
  }
}
