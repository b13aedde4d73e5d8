import Testing
import Domain

@testable import Providers

@Suite("Qonversion bodies that are refused")
struct QonversionRefusalTests {
  @Test("A required member that is missing, null or empty is reported")
  func missing() {
    let body = Body.renewal
    for name in ["event_name", "user_id", "time"] {
      #expect(refusal(body.without(name).line) == ["missing_field", name])
      #expect(refusal(body.with(name, "null").line) == ["missing_field", name])
    }
    #expect(refusal(body.with("user_id", "\"\"").line) == ["missing_field", "user_id"])
    #expect(refusal(body.with("event_name", "\"\"").line) == ["missing_field", "event_name"])
  }

  @Test("A product id may be missing")
  func noProduct() {
    #expect(normalise(Body.renewal.without("product_id").line).events.first?.product == 0)
  }

  @Test(
    "A member of the wrong type is reported with the expected one",
    arguments: [
      ("event_name", "7", "event_name: expected a string"),
      ("user_id", "true", "user_id: expected a string or an integer"),
      ("user_id", "1.5", "user_id: expected a string or an integer"),
      ("time", "{}", "time: expected a point in time"),
      ("created_at", "[]", "created_at: expected a point in time"),
      ("product_id", "[]", "product_id: expected a string or an integer"),
      ("environment", "1", "environment: expected a string"),
      ("platform", "{}", "platform: expected a string"),
      ("country", "49", "country: expected a string"),
      ("storefront", "false", "storefront: expected a string"),
      ("app_id", "[1]", "app_id: expected a string or an integer"),
      ("revenue", "6.99", "revenue: expected an object"),
      ("revenue", "[1]", "revenue: expected an object"),
      ("revenue", #"{"value":"much"}"#, "revenue.value: expected a decimal number"),
      ("revenue", #"{"value_usd":true}"#, "revenue.value_usd: expected a decimal number"),
      ("revenue", #"{"currency":840}"#, "revenue.currency: expected a string"),
      ("revenue", #"{"is_proceed":2}"#, "revenue.is_proceed: expected true, false, 1 or 0"),
      ("revenue", #"{"proceeds_rate":{}}"#, "revenue.proceeds_rate: expected a decimal number"),
      ("price", "\"9.99\"", "price: expected an object"),
      ("price", #"{"value":[]}"#, "price.value: expected a decimal number"),
      ("transaction", "42", "transaction: expected an object"),
      (
        "transaction", #"{"transaction_id":{}}"#,
        "transaction.transaction_id: expected a string or an integer"
      ),
      (
        "transaction", #"{"original_transaction_id":true}"#,
        "transaction.original_transaction_id: expected a string or an integer"
      ),
      (
        "transaction", #"{"transaction_id":1,"expires":true}"#,
        "transaction.expires: expected a point in time"
      ),
    ])
  func wrongType(name: String, json: String, detail: String) {
    #expect(refusal(Body.renewal.with(name, json).line) == ["bad_field", detail])
  }

  @Test(
    "An empty string can replace an absent number, time or object",
    arguments: ["subscription_renew_count", "price", "created_at", "entitlements"])
  func emptyString(name: String) throws {
    let event = try #require(normalise(Body.renewal.with(name, "\"\"").line).events.first)
    #expect(event.revenue != nil && event.transaction != 0)
    let money = #"{"value":9.99,"value_usd":"","currency":"EUR","is_proceed":"true"}"#
    let reported = try #require(normalise(Body.renewal.with("revenue", money).line).events.first)
    #expect(reported.revenue?.usd == nil && reported.revenue?.isProceed == true)
  }

  @Test(
    "An impossible renewal count is refused",
    arguments: ["-1", "1.5", "100001", "2147483647", "9223372036854775808"])
  func badCounter(json: String) {
    #expect(
      refusal(Body.renewal.with("subscription_renew_count", json).line)
        == ["bad_field", "subscription_renew_count: expected an integer from 0 to 100000"])
    let most = normalise(Body.renewal.with("subscription_renew_count", "100000").line)
    #expect(most.events.first?.renewalCount == 100_000)
  }

  @Test("An id that is too long is refused")
  func longID() {
    let long = quote(String(repeating: "x", count: 1_025))
    #expect(
      refusal(Body.renewal.with("user_id", long).line)
        == ["bad_field", "user_id: longer than 1024 bytes"])
  }

  @Test("Times are epoch seconds or milliseconds, as number or text")
  func times() {
    func time(_ json: String) -> Instant? {
      normalise(Body.renewal.with("time", json).line).events.first?.time
    }
    let expected = Instant(seconds: 1_760_000_000)
    #expect(time("1760000000") == expected && time("\"1760000000\"") == expected)
    #expect(time("1760000000000") == expected && time("1.76e9") == expected)
    #expect(time("1760000000.123") == expected + Interval(milliseconds: 123))
    #expect(time("\"2025-10-09T08:53:20Z\"") == expected)
  }

  @Test("An invalid time is refused", arguments: ["0", "-5", "\"\"", "\"soon\"", "1e300"])
  func badTime(json: String) {
    #expect(refusal(Body.renewal.with("time", json).line).first == "bad_time")
  }

  @Test("Optional times may be null, empty or 0, but not invalid")
  func optionalTimes() {
    let batch = normalise(
      Body.renewal.with("created_at", "0").with(
        "transaction",
        #"{"transaction_id":1,"expires":0,"transaction_date":"","grace_period_expires":9}"#
      ).line)
    let event = batch.events[0]
    #expect(event.created == nil && event.periodEnd == nil && event.periodStart == nil)
    #expect(event.graceEnd == Instant(seconds: 9))
    #expect(
      refusal(Body.renewal.with("created_at", "\"soon\"").line)
        == ["bad_time", "created_at: not a point in time between 1970 and 9999"])
  }

  @Test("An amount beyond 10^12 units refuses its line")
  func tooLarge() {
    let edge = Body.renewal.with("revenue", #"{"value":1000000000000,"value_usd":1000000}"#)
    #expect(
      normalise(edge.line).events.first?.revenue?.local
        == Amount(micros: 1_000_000_000_000_000_000))
    #expect(
      refusal(Body.renewal.with("revenue", #"{"value":1000000000000.01}"#).line)
        == ["amount_too_large", "revenue.value: beyond 10^12 units"])
    #expect(
      refusal(Body.renewal.with("price", #"{"value_usd":-1e999999999}"#).line)
        == ["amount_too_large", "price.value_usd: beyond 10^12 units"])
  }

  @Test(
    "More than 10^10 units are worth 10^3 to 10^6 US dollars, or refuse their line",
    arguments: [
      (#""value":10000000000"#, true), (#""value":10000000000.01"#, false),
      (#""value":20000000000,"value_usd":2000"#, true),
      (#""value":20000000000,"value_usd":1999.99"#, false),
      (#""value":-20000000000,"value_usd":-1000000"#, true),
      (#""value":20000000000,"value_usd":1000000.01"#, false),
    ])
  func worth(json: String, isKept: Bool) {
    for money in ["revenue", "price"] {
      let line = Body.renewal.with(money, "{\(json)}").line
      let problem = "\(money).value: beyond 10^10 units and not worth 10^3 to 10^6 US dollars"
      #expect(
        isKept ? normalise(line).events.count == 1 : refusal(line) == ["amount_too_large", problem])
    }
  }

  @Test("An event before the first store opened refuses its line")
  func impossibleTime() {
    #expect(normalise(Body.renewal.with("time", "1215648000").line).events.count == 1)
    #expect(
      refusal(Body.renewal.with("time", "1215647999").line)
        == ["impossible_time", "time: before 2008-07-10, when the first store opened"])
    #expect(normalise(Body.renewal.with("created_at", "1215647999").line).events.count == 1)
  }

  @Test(
    "A purchase before the first store opened refuses its line",
    arguments: [
      #"{"transaction":"1","store":"AppleAppStore","timestamp":1767225600,"data":"#
        + #"{"productId":"m","type":"Subscription","status":0,"expiresDate":1}}"#,
      #"{"type":"purchases.updated","applicationUsername":"u","password":"p","purchases":"#
        + #"{"apple:m":{"productId":"apple:m","purchaseId":"apple:1","platform":"apple","#
        + #""lastRenewalDate":"2001-01-01T00:00:00Z","expirationDate":"2026-01-01T00:00:00Z"}}}"#,
    ])
  func impossiblePurchase(line: String) {
    #expect(refusal(line).first == "impossible_time")
  }

  @Test("More than 10^9 US dollars refuse their line")
  func tooManyDollars() {
    let edge = Body.renewal.with("revenue", #"{"value_usd":-1000000000}"#)
    #expect(
      normalise(edge.line).events.first?.revenue?.usd == Amount(micros: -1_000_000_000_000_000))
    #expect(
      refusal(Body.renewal.with("revenue", #"{"value_usd":-1000000000.000001}"#).line)
        == ["amount_too_large", "revenue.value_usd: beyond 10^9 US dollars"])
    #expect(
      refusal(Body.renewal.with("price", #"{"value_usd":"1000000001"}"#).line)
        == ["amount_too_large", "price.value_usd: beyond 10^9 US dollars"])
  }

  @Test("A refused line leaves no trace in the batch but its reject")
  func noTrace() {
    let batch = normalise(Body.renewal.with("price", "7").line)
    #expect(batch.symbols.words == [""] && batch.arena.isEmpty && batch.texts.isEmpty)
    #expect(batch.notes.isEmpty)
  }
}
