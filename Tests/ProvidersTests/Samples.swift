import Providers
import Domain
import Formats

/// A JSON object as an ordered list of members that tests can change.
struct Body {
  var members: [(name: String, json: String)]

  /// The body with `name` set to `json`, in its position if it exists.
  func with(_ name: String, _ json: String) -> Body {
    var copy = self
    if let place = members.firstIndex(where: { $0.name == name }) {
      copy.members[place].json = json
    } else {
      copy.members.append((name, json))
    }
    return copy
  }

  /// The body without `name`.
  func without(_ names: String...) -> Body {
    Body(members: members.filter { !names.contains($0.name) })
  }

  /// The body as one line.
  var line: String {
    "{" + members.map { "\"\($0.name)\":\($0.json)" }.joined(separator: ",") + "}"
  }

  /// The line as the content of a JSON string.
  var quoted: String { quote(line) }

  /// A renewal as current webhooks send it.
  static let renewal = Body(members: [
    ("event_name", "\"subscription_renewed\""),
    ("user_id", "\"QON_00112233445566778899aabbccddeeff\""),
    ("custom_user_id", "\"canary-custom\""),
    ("identity_id", "\"canary-identity\""),
    ("advertiser_id", "\"canary-advertiser\""),
    ("time", "1760000000"),
    ("created_at", "1760000042"),
    ("product_id", "\"com.example.pro.monthly\""),
    (
      "revenue",
      #"{"value":6.99,"value_usd":7.61,"currency":"EUR","is_proceed":1,"proceeds_rate":70}"#
    ),
    ("price", #"{"value":9.99,"value_usd":10.88,"currency":"EUR"}"#),
    (
      "transaction",
      #"""
      {"transaction_id":2000000900000002,"original_transaction_id":2000000900000001,\#
      "expires":1762592000,"grace_period_expires":null,"transaction_date":1760000000}
      """#
    ),
    ("properties", #"{"_q_email":"canary@example.invalid"}"#),
    ("device_id", "\"canary-device\""),
    ("environment", "\"production\""),
    ("platform", "\"iOS\""),
    ("ip", "\"192.0.2.99\""),
    ("country", "\"DE\""),
    ("storefront", "\"DEU\""),
    ("app_id", "\"1234567890\""),
    ("quantity", "1"),
    ("subscription_renew_count", "3"),
    (
      "entitlements",
      #"{"0":{"id":"premium","active":true,"started":1752000000,"expires":1762592000}}"#
    ),
  ])

  /// The renewal as an upgrade that refunded a part of the old period's price.
  static let upgrade =
    renewal
    .with("event_name", "\"subscription_upgraded\"")
    .with("old_product_id", "\"com.example.pro.monthly\"")
    .with("new_product_id", "\"com.example.pro.yearly\"")

  /// A body as the documentation of 2020 shows it.
  static let of2020 = Body(members: [
    ("event_name", "\"subscription_started\""),
    ("user_id", "\"p1a2b3\""),
    ("custom_user_id", "\"\""),
    ("advertiser_id", "\"\""),
    ("time", "1590000000"),
    ("product_id", "\"com.example.pro\""),
    ("revenue", #"{"value":9.99,"currency":"USD","value_usd":9.99}"#),
    ("properties", "{}"),
  ])
}

/// `text` as a JSON string.
func quote(_ text: String) -> String {
  let escaped = text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
  return "\"" + escaped.replacing("\n", with: "\\n") + "\""
}

/// The result of a new normaliser for `text`.
func normalise(
  _ text: String, rules: NormaliserSettings = NormaliserSettings(), firstLine: Int64 = 1,
  firstOffset: Int64 = 0
) -> EventBatch {
  var batch = EventBatch()
  var normaliser = Normaliser(rules: rules)
  Array(text.utf8).withUnsafeBytes {
    normaliser.add(.lines($0, firstLine: firstLine, firstOffset: firstOffset), to: &batch)
  }
  return batch
}

/// The reason and detail of the only reject of `text`.
func refusal(_ text: String) -> [String] {
  let batch = normalise(text)
  guard batch.events.isEmpty, batch.rejects.count == 1, batch.lines == 1 else { return [] }
  return [batch.rejects[0].reason, batch.rejects[0].detail]
}

extension EventBatch {
  /// The word of a symbol of this batch.
  func word(_ symbol: StringID) -> String { symbols.words[Int(symbol)] }
}
