import Foundation

/// Lines of every provider with canaries in all secrets and personal data, valid and broken in
/// every way.
enum CanaryCorpus {
  /// Texts that must not appear anywhere: a word, an address and a device id.
  static let words = ["c4n4ry", "203.0.113.77", "c4c4c4c4-0000-4000-8000-00000000c4c4"]

  private static let personal =
    #""custom_user_id":"c4n4ry-custom","identity_id":"c4n4ry-identity","advertiser_id":"#
    + #""c4c4c4c4-0000-4000-8000-00000000c4c4","device_id":"c4n4ry-device","ip":"203.0.113.77","#
    + #""properties":{"_q_email":"c4n4ry@example.invalid","c4n4ry-key":{"c4n4ry":["c4n4ry"]}},"#
    + #""asa_attribution":{"org_id":"c4n4ry"},"c4n4ry-unknown":"c4n4ry","email":"c4n4ry@a.b""#

  private static let extra =
    #""email":"c4n4ry@example.invalid","ip":"203.0.113.77","c4n4ry-key":"c4n4ry","deviceInfo":"#
    + #"{"idfa":"c4c4c4c4-0000-4000-8000-00000000c4c4"}"#

  /// A valid body of each provider; stored ids have no canaries.
  static let bodies = [
    #"{"event_name":"subscription_started","user_id":"QON_1","time":1772193600,"created_at":"#
      + #"1772193660,"product_id":"pro","revenue":{"value":9.99,"value_usd":9.99,"currency":"USD","#
      + #""is_proceed":0,"proceeds_rate":70,"c4n4ry":"c4n4ry"},"transaction":{"transaction_id":77,"#
      + #""original_transaction_id":77,"expires":1774612800,"transaction_date":1772193600},"#
      + #""environment":"production","platform":"iOS","country":"US","app_id":"1","entitlements":"#
      + #"{"0":{"id":"c4n4ry","active":true,"expires":1774612800}},\#(personal)}"#,
    #"{"transaction":"GPA.1-2-3-4","store":"GooglePlay","timestamp":1772193600,"user":"u-1","#
      + #""data":{"status":0,"productId":"pro","type":"Subscription","sandbox":false,"#
      + #""expiresDate":1774612800,"autoRenew":true,\#(extra)},\#(extra)}"#,
    #"{"type":"purchases.updated","password":"c4n4ry-password","applicationUsername":"u-2","#
      + #""notification":{"reason":"RENEWED","id":"n-1","date":"2026-02-27T12:00:00.000Z","#
      + #""productId":"apple:pro","transactionId":"apple:2",\#(extra)},"purchases":{"apple:pro":"#
      + #"{"productId":"apple:pro","purchaseId":"apple:1","transactionId":"apple:2","platform":"#
      + #""apple","sandbox":false,"purchaseDate":"2026-01-27T12:00:00.000Z","lastRenewalDate":"#
      + #""2026-02-27T12:00:00.000Z","expirationDate":"2026-03-27T12:00:00.000Z","isExpired":"#
      + #"false,"renewalIntent":"Renew",\#(extra)}},\#(extra)}"#,
    #"{"version":"1.c4n4ry","type":"SUBSCRIPTION_PURCHASED","properties":{"packageName":"com.a","#
      + #""productId":"pro","transactionId":"3","originalTransactionId":"3","accountId":"acc-1","#
      + #""deviceId":"c4n4ry-device","trialPeriod":"false",\#(extra)},"eventTimeMillis":"#
      + #"1772193600123,\#(extra)}"#,
  ]

  private static let headers =
    #"{"Authorization":"Basic c4n4ry-token","X-Auth-Key":"c4n4ry-key","X-App-Id":"app","Cookie":"#
    + #""c4n4ry","X-Forwarded-For":"203.0.113.77","c4n4ry-header":"c4n4ry"}"#

  /// A body in the envelopes of common receivers.
  static func enveloped(_ body: String) -> [String] {
    let text = quoted(body)
    let base64 = Data(body.utf8).base64EncodedString()
    return [
      #"{"received_at":1772193700,"headers":\#(headers),"body":\#(body)}"#,
      #"{"headers":\#(headers),"requestContext":{"http":{"sourceIp":"203.0.113.77"}},"body":"#
        + "\(text)}",
      #"{"headers":\#(headers),"isBase64Encoded":true,"body":"\#(base64)","c4n4ry":1}"#,
      #"{"headers":\#(quoted(headers)),"raw_payload":\#(text),"remote_addr":"203.0.113.77"}"#,
      #"{"data":{"headers":\#(headers),"query":"c4n4ry","body":\#(body)}}"#,
    ]
  }

  /// The body broken in every known way that gives an error, or an event without the part.
  static func broken(_ body: String) -> [String] {
    let cuts = (1..<8).map { String(body.prefix(body.count * $0 / 8)) }
    let fields = [
      "time", "created_at", "revenue", "value", "value_usd", "is_proceed", "proceeds_rate",
      "transaction", "transaction_id", "expires", "transaction_date", "entitlements",
      "environment", "timestamp", "data", "status", "expiresDate", "autoRenew", "sandbox", "store",
      "purchases", "notification", "date", "purchaseDate", "expirationDate", "isExpired",
      "eventTimeMillis", "trialPeriod", "originalTransactionId", "transactionId", "type",
    ]
    let wrong = [#"{"c4n4ry":"c4n4ry"}"#, #"["c4n4ry"]"#]
    let times = ["time", "created_at", "timestamp", "date", "expirationDate", "eventTimeMillis"]
    let untimed = times.map {
      body.replacing(#""\#($0)":"#, with: #""\#($0)":"c4n4ry","c4n4ry":"#)
    }
    let swapped = fields.flatMap { field in
      wrong.map { value in
        body.replacing(#""\#(field)":"#, with: #""\#(field)":\#(value),"c4n4ry":"#)
      }
    }
    let long = String(repeating: "c4n4ry-", count: 200)
    let overlong = ["QON_1", "u-1", "u-2", "acc-1", "pro", "GPA.1-2-3-4", "com.a"].map {
      body.replacing(#""\#($0)""#, with: #""\#(long)""#)
    }.filter { $0 != body }
    let huge = #"{"c4n4ry":"\#(String(repeating: "c4n4ry ", count: 2000))","#
    return cuts + untimed + swapped + overlong + [
      huge + body.dropFirst(), #"{"body":\#(quoted("c4n4ry " + body))}"#,
      #"{"body":\#(quoted(String(body.dropLast())))}"#,
      #"{"body":"\#(Data("c4n4ry c4n4ry".utf8).base64EncodedString())"}"#, body + "c4n4ry",
    ]
  }

  /// Lines of no provider.
  static let foreign = [
    "c4n4ry", #""c4n4ry""#, #"["c4n4ry"]"#, #"{"c4n4ry":"c4n4ry"}"#, #"{"c4n4ry":c4n4ry}"#,
    #"{"ok":false,"status":401,"message":"c4n4ry"}"#, #"{"code":10101,"error":"c4n4ry"}"#,
    #"{"type":"test","password":"c4n4ry"}"#, #"{"body":"c4n4ry","is_large_payload":true}"#,
    #"{"email":"c4n4ry@example.invalid","a":\ud800}"#,
    String(repeating: "[", count: 5000) + "c4n4ry",
  ]

  /// Snapshot lines of every shape, including fields that are not read.
  static let snapshots = [
    #"{"user_id":"QON_1","captured_at":1772280000,"data":[{"id":"premium","active":true,"started":"#
      + #"1772193600,"expires":1774612800,"source":"appstore","product":{"product_id":"pro","#
      + #""subscription":{"renew_state":"will_renew"}},\#(extra)}],\#(extra)}"#,
    #"{"user_id":"QON_1","captured_at":1772280000,"entitlements":[{"id":"premium","active":1,"#
      + #""associated_product":"pro","renew_state":1,"renews_count":0,"started_timestamp":"#
      + #"1772193600,"expiration_timestamp":1774612800,"store_transactions":[{"environment":"#
      + #""production","original_transaction_id":"77","transaction_id":"77","offer_code":"c4n4ry","#
      + #""transaction_timestamp":1772193600,"expiration_timestamp":1774612800,"ownership_type":"#
      + #""owner","type":"subscription_started"}],\#(extra)}]}"#,
    #"{"user":"u-1","app_id":"app","captured_at":1772280000,"purchases":[{"data":{"status":0,"#
      + #""productId":"pro","type":"Subscription","sandbox":false,"expiresDate":1774612800,"#
      + #"\#(extra)}}],\#(extra)}"#,
    #"{"applicationUsername":"u-2","captured_at":1772280000,"password":"c4n4ry","purchases":{"#
      + #""apple:pro":{"productId":"apple:pro","purchaseId":"apple:1","platform":"apple","#
      + #""sandbox":false,"purchaseDate":"2026-01-27T12:00:00.000Z","expirationDate":"#
      + #""2026-03-27T12:00:00.000Z",\#(extra)}},\#(extra)}"#,
    #"{"provider":"purple","user_id":"acc-1","captured_at":1772280000,"entitlements":[{"id":"#
      + #""premium","product_id":"pro","active":true,"expires_at":1774612800,"c4n4ry":"c4n4ry","#
      + #""transactions":[]}],\#(extra)}"#,
  ]

  private static func quoted(_ text: String) -> String {
    "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
  }
}

extension Data {
  /// The corpus's words in the bytes, in any case, in base64 or as hexadecimal digits.
  func canaries() -> [String] {
    CanaryCorpus.words.filter { word in
      let digits = word.utf8.map { String($0, radix: 16) }.joined()
      let forms = [word, word.uppercased(), digits, digits.uppercased()] + Self.base64(of: word)
      return forms.contains { range(of: Data($0.utf8)) != nil }
    }
  }

  /// The constant part of the base64 of a text that contains `word`, for each of the three
  /// positions at which it can begin.
  private static func base64(of word: String) -> [String] {
    (0..<3).map { before in
      let bytes = Data(repeating: 0, count: before) + Data(word.utf8)
      let whole = bytes.count / 3 * 4
      return String(bytes.base64EncodedString().prefix(whole).dropFirst(before == 0 ? 0 : 4))
    }
  }
}
