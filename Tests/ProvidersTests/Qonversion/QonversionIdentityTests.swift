import Testing
import Domain

@testable import Providers

@Suite("Ids, identity and lineage")
struct QonversionIdentityTests {
  private func batch(id: String, original: String?) -> EventBatch {
    let root = original.map { ",\"original_transaction_id\":\($0)" } ?? ""
    return normalise(
      Body.renewal.with("transaction", "{\"transaction_id\":\(id)\(root)}").line)
  }

  @Test("A number and the same digits as text are one id")
  func numberOrText() throws {
    let number = batch(id: "42", original: "41")
    let text = batch(id: "\"42\"", original: "\"41\"")
    #expect(number.events[0].identity == text.events[0].identity)
    #expect(number.events[0].lineage == text.events[0].lineage)
    #expect(number.events[0].transaction == 42 && text.events[0].transaction == 42)
    #expect(number.arena == text.arena)
    let app = normalise(Body.renewal.with("app_id", "1234567890").line).events[0]
    #expect(app.lineage == normalise(Body.renewal.line).events[0].lineage)
    let user = normalise(Body.renewal.with("user_id", "77").line)
    #expect(user.text(user.texts[0].user) == "77")
  }

  @Test(
    "A missing, null, empty or 0 original id equals the own id",
    arguments: [nil, "null", "\"\"", "0", "\"0\"", "42"])
  func ownOriginal(original: String?) {
    let batch = batch(id: "42", original: original)
    #expect(batch.text(batch.texts[0].original) == "42")
    #expect(batch.events[0].startsLineage)
    #expect(batch.events[0].lineage == self.batch(id: "42", original: "\"42\"").events[0].lineage)
  }

  @Test("A different original id proves an earlier subscription in every store")
  func beginnings() {
    for platform in ["iOS", "Android", "Stripe"] {
      let body = Body.renewal.with("platform", "\"\(platform)\"")
      #expect(!normalise(body.line).events[0].startsLineage, "\(platform)")
    }
  }

  @Test("If a body names no app, its project distinguishes two events")
  func projects() {
    func identity(_ project: String, of body: Body) -> Int64 {
      normalise(body.with("project_name", project).line).events[0].identity
    }
    let bare = Body.renewal.without("app_id")
    #expect(identity(#""One""#, of: bare) != identity(#""Two""#, of: bare))
    #expect(identity("null", of: bare) == normalise(bare.line).events[0].identity)
    #expect(identity(#""One""#, of: .renewal) == identity(#""Two""#, of: .renewal))
  }

  @Test("Sixteen and more digits stay exact")
  func longDigits() {
    let long = batch(id: "9007199254740993", original: "123456789012345678901234567890")
    #expect(long.text(long.texts[0].transaction) == "9007199254740993")
    #expect(long.text(long.texts[0].original) == "123456789012345678901234567890")
    #expect(long.events[0].transaction == 9_007_199_254_740_993)
  }

  @Test("An id that passed through floating point is refused", arguments: ["4.2e1", "42.0", "-42"])
  func brokenNumber(id: String) {
    #expect(
      refusal(Body.renewal.with("transaction", "{\"transaction_id\":\(id)}").line)
        == ["bad_field", "transaction.transaction_id: expected a string or an integer"])
  }

  @Test("App, environment, store, transaction, time and kind each make another event")
  func identityParts() {
    let bodies = [
      Body.renewal,
      Body.renewal.with("app_id", "\"2\""),
      Body.renewal.with("environment", "\"sandbox\""),
      Body.renewal.with("platform", "\"Android\""),
      Body.renewal.with("transaction", #"{"transaction_id":1}"#),
      Body.renewal.with("time", "1760000001"),
      Body.renewal.with("event_name", "\"subscription_canceled\""),
    ]
    #expect(Set(bodies.map { normalise($0.line).events[0].identity }).count == bodies.count)
  }

  @Test("A field outside the identity changes only the body's fingerprint")
  func sameIdentity() {
    let plain = normalise(Body.renewal.line).events[0]
    let changes = [
      ("created_at", "1760009999"), ("country", "\"FR\""), ("revenue", "null"),
      ("user_id", "\"other\""), ("product_id", "\"other\""),
    ]
    for (name, json) in changes {
      let event = normalise(Body.renewal.with(name, json).line).events[0]
      #expect(event.identity == plain.identity && event.body != plain.body)
    }
  }

  @Test("The end of an upgrade is never a manual grant's, and preferably its product's")
  func grantOfProduct() {
    func end(_ entitlements: String, platform: String = "iOS") -> Instant? {
      let body = Body.upgrade.with("entitlements", entitlements)
      return normalise(body.with("platform", "\"\(platform)\"").line).events[0].entitledUntil
    }
    func grant(_ source: String, _ seconds: Int, of product: String = "pro") -> String {
      """
      {"active":true,"expires":\(seconds),"source":"\(source)",\
      "product":{"product_id":"\(product)"}}
      """
    }
    let byHand = #"{"id":"sup","active":true,"expires":1900000000,"source":"manual"}"#
    #expect(end("[\(byHand)]") == nil)
    let paid = grant("appstore", 1_800_000_000)
    #expect(end("[\(byHand),\(paid)]") == Instant(seconds: 1_800_000_000))
    let named = grant("appstore", 1_800_000_000, of: "com.example.pro.yearly")
    let other = grant("appstore", 1_850_000_000)
    let shop = grant("stripe", 1_860_000_000)
    for list in [[named, other, shop], [shop, other, named]] {
      #expect(end("[\(list.joined(separator: ","))]") == Instant(seconds: 1_800_000_000))
    }
    #expect(end("[\(shop),\(other)]") == Instant(seconds: 1_850_000_000))
    #expect(end("[\(shop),\(other)]", platform: "Stripe") == Instant(seconds: 1_860_000_000))
    // The end of another store's access is not that of its period.
    let past = named.replacing("true", with: "false")
    #expect(end("[\(past),\(shop)]") == Instant(seconds: 1_800_000_000))
    #expect(end("[\(shop)]") == nil)
  }

  @Test("A product change names both products and the end of the user's new access")
  func productChange() {
    let entitlements = #"""
      {"0":{"id":"a","active":true,"expires":1790000000},\#
      "1":{"id":"b","is_active":true,"expires_at":"2026-09-21T17:46:40Z"},\#
      "2":{"id":"c","active":false,"expires":1900000000},"3":{"id":"d","active":true}}
      """#
    let batch = normalise(Body.upgrade.with("entitlements", entitlements).line)
    let event = batch.events[0]
    #expect(event.kind == .upgraded)
    #expect(batch.word(event.product) == "com.example.pro.yearly")
    #expect(batch.word(event.previousProduct) == "com.example.pro.monthly")
    #expect(event.entitledUntil == Instant(seconds: 1_790_012_800))
    let inactive = #"[{"active":0,"expires":1},{"expires":1800000000},{"expires":{}},7]"#
    let array = normalise(Body.upgrade.with("entitlements", inactive).line)
    #expect(array.events[0].entitledUntil == Instant(seconds: 1_800_000_000))
    let bare = Body.upgrade.with("new_product_id", "\"\"").with("entitlements", "{}")
    let own = normalise(bare.line)
    #expect(own.word(own.events[0].product) == "com.example.pro.monthly")
    #expect(own.events[0].entitledUntil == nil)
  }
}
