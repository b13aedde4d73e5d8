/// A handmade Qonversion webhook body, as JSON members by name.
struct Body {
  var members: [String: String] = [
    "event_name": "\"subscription_started\"",
    "time": "1772193600",
    "created_at": "1772193660",
    "product_id": "\"com.example.pro.monthly\"",
    "revenue": money("9.99", rate: 70),
    "price": #"{"value":9.99,"value_usd":9.99,"currency":"USD"}"#,
    "properties": "{}",
    "environment": "\"production\"",
    "platform": "\"iOS\"",
    "country": "\"US\"",
    "app_id": "\"1234567890\"",
    "entitlements": "{}",
  ]

  /// The first period of subscription `number`, on 27 February 2026 at noon UTC.
  init(_ number: Int = 1) {
    members["transaction"] = Self.transaction(2_000_000_900_000_000 + number)
    members["user_id"] = "\"QON_\(number)\""
  }

  /// An event of subscription `number`, created a minute after `time` in seconds since 1970.
  init(
    _ number: Int = 1, _ name: String = "subscription_started", at time: Int, count: Int? = nil
  ) {
    self.init(number)
    members["event_name"] = "\"\(name)\""
    members["time"] = "\(time)"
    members["created_at"] = "\(time + 60)"
    members["subscription_renew_count"] = count.map(String.init)
  }

  /// Seconds since 1970 of the start of a day after 1 January 2026.
  static func seconds(_ day: Int) -> Int { 1_767_225_600 + day * 86_400 }

  /// An event of a user, days after 1 January 2026, about a transaction that pays until day `end`.
  init(
    _ name: String, of user: String, _ day: Int, id: Int, original: Int = 100, until end: Int?,
    count: Int? = nil
  ) {
    self.init(1, name, at: Self.seconds(day), count: count)
    members["user_id"] = "\"\(user)\""
    members["transaction"] = Self.transaction(
      id, of: original, from: Self.seconds(day), until: end.map(Self.seconds))
  }

  /// The object on one line with sorted members, so that it is always the same.
  var line: String {
    let pairs = members.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\($0.value)" }
    return "{\(pairs.joined(separator: ","))}"
  }

  /// Dollars with an `is_proceed` of 0.
  static func money(_ value: String, rate: Int) -> String {
    #"{"value":\#(value),"value_usd":\#(value),"currency":"USD","is_proceed":0,"#
      + #""proceeds_rate":\#(rate)}"#
  }

  /// A period, by default the first one, of a month from 27 February 2026, noon UTC.
  static func transaction(
    _ id: Int, of original: Int? = nil, from start: Int = 1_772_193_600,
    until end: Int? = 1_774_612_800
  ) -> String {
    #"{"transaction_id":\#(id),"original_transaction_id":\#(original ?? id),"#
      + #""expires":\#(end.map(String.init) ?? "null"),"grace_period_expires":null,"#
      + #""transaction_date":\#(start)}"#
  }
}

/// `count` bodies, one per line, starting with subscription `first`.
func bodies(_ count: Int, from first: Int = 1) -> String {
  (first..<first + count).map { Body($0).line + "\n" }.joined()
}
