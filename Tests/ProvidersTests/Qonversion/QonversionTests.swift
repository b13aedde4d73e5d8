import Testing
import Domain

@testable import Providers

@Suite("Qonversion bodies")
struct QonversionTests {
  @Test("A renewal is read with every meaningful member")
  func renewal() throws {
    let batch = normalise(Body.renewal.line)
    let event = try #require(batch.events.first)
    #expect(batch.events.count == 1 && batch.lines == 1 && batch.values == [0])
    #expect(event.provider == .qonversion && event.kind == .renewed)
    #expect(event.environment == .production && event.store == .appStore)
    #expect(batch.word(event.name) == "subscription_renewed")
    #expect(batch.word(event.app) == "1234567890")
    #expect(batch.word(event.product) == "com.example.pro.monthly")
    #expect(event.previousProduct == 0 && event.entitledUntil == nil)
    #expect(batch.word(event.country) == "DE" && batch.word(event.storefront) == "DEU")
    #expect(event.time == Instant(seconds: 1_760_000_000))
    #expect(event.created == Instant(seconds: 1_760_000_042))
    #expect(event.received == nil && event.graceEnd == nil)
    #expect(event.periodStart == Instant(seconds: 1_760_000_000))
    #expect(event.periodEnd == Instant(seconds: 1_762_592_000))
    #expect(event.renewalCount == 3)
    #expect(event.transaction == 2_000_000_900_000_002 && !event.startsLineage)
    #expect(event.user == Fingerprint.of("QON_00112233445566778899aabbccddeeff"))
    #expect(event.body == Fingerprint.of(Body.renewal.line))
    #expect(
      event.lineage
        == lineageKey(
          provider: .qonversion, app: "1234567890", environment: .production, store: .appStore,
          original: "2000000900000001"))
    let text = batch.texts[0]
    #expect(batch.text(text.transaction) == "2000000900000002")
    #expect(batch.text(text.original) == "2000000900000001")
    #expect(batch.text(text.user) == "QON_00112233445566778899aabbccddeeff")
  }

  @Test("Money is read exactly, with its currency, rate and nature")
  func money() throws {
    let batch = normalise(Body.renewal.line)
    let revenue = try #require(batch.events.first?.revenue)
    #expect(revenue.local == Amount(micros: 6_990_000))
    #expect(revenue.usd == Amount(micros: 7_610_000))
    #expect(batch.word(revenue.currency) == "EUR")
    #expect(revenue.isProceed == true && revenue.rate == Amount(micros: 70_000_000))
    let price = try #require(batch.events.first?.price)
    #expect(price.local == Amount(micros: 9_990_000) && price.usd == Amount(micros: 10_880_000))
    #expect(batch.notes.isEmpty)
  }

  @Test(
    "On Play the group of a subscription is its base plan",
    arguments: [
      ("Android", "p", "\"year\"", "p:year"), ("iOS", "p", "\"21\"", "p"),
      ("Android", "p", "\"\"", "p"), ("Android", "p:month", "\"year\"", "p:month"),
      ("Android", "p", "{}", "p"),
    ])
  func basePlan(platform: String, product: String, group: String, named: String) {
    let renewal = Body.renewal.with("platform", "\"\(platform)\"")
      .with("product_id", "\"\(product)\"").with("subscription_group", group)
    let batch = normalise(renewal.line)
    #expect(batch.events.map { batch.word($0.product) } == [named])
    let coins = normalise(renewal.with("event_name", "\"in_app_purchase\"").line)
    #expect(coins.events.map { coins.word($0.product) } == [product])
  }

  @Test("The price of several units is their total, as is their revenue")
  func quantity() throws {
    for (quantity, micros) in [("3", 29_970_000), ("\"2\"", 19_980_000), ("1", 9_990_000)]
      as [(String, Int64)]
    {
      let event = normalise(Body.renewal.with("quantity", quantity).line).events.first
      #expect(event?.price?.local == Amount(micros: micros))
      #expect(event?.revenue?.local == Amount(micros: 6_990_000))
    }
    for odd in ["0", "null", "\"many\"", "-2", "1.5"] {
      let event = normalise(Body.renewal.with("quantity", odd).line).events.first
      #expect(event?.price?.local == Amount(micros: 9_990_000))
    }
  }

  @Test(
    "Money may be absent, null, empty, or numeric text",
    arguments: ["null", "{}", "[]"])
  func noMoney(json: String) throws {
    let without = try #require(normalise(Body.renewal.without("revenue").line).events.first)
    let sent = try #require(normalise(Body.renewal.with("revenue", json).line).events.first)
    #expect(without.revenue == nil && sent.revenue == nil && sent.price != nil)
    let text = Body.renewal.with("revenue", #"{"value":"-1.50","value_usd":null,"is_proceed":0}"#)
    let revenue = try #require(normalise(text.line).events.first?.revenue)
    #expect(revenue.local == Amount(micros: -1_500_000) && revenue.usd == nil)
    #expect(revenue.isProceed == false && revenue.rate == nil && revenue.currency == 0)
  }

  @Test("More than six decimals are rounded half to even and counted")
  func rounding() throws {
    let batch = normalise(Body.renewal.with("revenue", #"{"value":0.0000005,"value_usd":1}"#).line)
    #expect(batch.events.first?.revenue?.local == .zero)
    #expect(batch.notes.map { [$0.roundedAmounts, $0.missingIsProceed] } == [[1, 1]])
  }

  @Test("A missing is_proceed is counted only for charges and refunds with money")
  func missingIsProceed() {
    let bare = Body.renewal.with("revenue", #"{"value":1,"value_usd":1,"currency":"usd"}"#)
    let batch = normalise(bare.line)
    #expect(batch.notes.map(\.missingIsProceed) == [1])
    #expect(batch.word(batch.events[0].revenue?.currency ?? 0) == "USD")
    var rules = NormaliserSettings()
    rules.eventNames = ["back": .recovered, "again": .resubscribed]
    for name in ["back", "again"] {
      let named = normalise(bare.with("event_name", "\"\(name)\"").line, rules: rules)
      #expect(named.notes.map(\.missingIsProceed) == [1])
    }
    let canceled = bare.with("event_name", "\"subscription_canceled\"")
    #expect(normalise(canceled.line).notes.isEmpty)
    let refunded = bare.with("event_name", "\"in_app_refunded\"")
    #expect(normalise(refunded.line).notes.map(\.missingIsProceed) == [1])
    let credited = Body.upgrade.with("revenue", #"{"value":-2}"#)
    #expect(normalise(credited.line).notes.map(\.missingIsProceed) == [1])
  }

  @Test("Bodies of 2020, without a transaction, are distinguished by user, product and time")
  func generation2020() throws {
    let batch = normalise(Body.of2020.line)
    let event = try #require(batch.events.first)
    #expect(event.kind == .started && event.transaction == 0 && event.startsLineage)
    #expect(event.environment == .production && event.store == .unknown && event.app == 0)
    #expect(event.created == nil && event.revenue?.isProceed == nil)
    #expect(batch.texts[0].transaction.isEmpty)
    let original = "\(Fingerprint.of("p1a2b3").userKeyText)|com.example.pro"
    #expect(batch.text(batch.texts[0].original) == original)
    #expect(
      event.lineage
        == lineageKey(
          provider: .qonversion, app: "", environment: .production, store: .unknown,
          original: original))
    let others = [
      Body.of2020.with("time", "1590000001"), Body.of2020.with("user_id", "\"p1a2b4\""),
      Body.of2020.with("product_id", "\"com.example.plus\""),
      Body.of2020.with("event_name", "\"trial_started\""),
    ].map { normalise($0.line).events[0].identity }
    #expect(Set(others + [event.identity]).count == 5)
  }

  @Test("Bodies of the middle years have a transaction without its date")
  func generationBetween() throws {
    let body = Body.renewal.without("storefront", "quantity", "entitlements")
      .with("transaction", #"{"transaction_id":"GPA.1..0","original_transaction_id":"GPA.1"}"#)
      .with("platform", "\"Android\"")
    let event = try #require(normalise(body.line).events.first)
    #expect(event.store == .playStore && event.periodStart == nil && event.periodEnd == nil)
    #expect(event.transaction == Fingerprint.of("GPA.1..0") && !event.startsLineage)
  }

  @Test("The order of members changes only the fingerprint of the body")
  func memberOrder() throws {
    var turned = Body.renewal
    turned.members.reverse()
    for shift in 0..<turned.members.count {
      var body = turned
      body.members = Array(turned.members[shift...] + turned.members[..<shift])
      let batch = normalise(body.line)
      let plain = normalise(Body.renewal.line)
      var event = try #require(batch.events.first)
      event.body = plain.events[0].body
      #expect(event == plain.events[0] && batch.symbols.words == plain.symbols.words)
      #expect(batch.texts == plain.texts && batch.arena == plain.arena)
    }
  }

  @Test("No personal data or secret is kept, whatever the outcome of the line")
  func canaries() {
    let bodies = [
      Body.renewal, Body.renewal.with("time", "\"canary-time\""), Body.renewal.without("user_id"),
      Body.renewal.with("environment", "\"canary\""),
      Body.renewal.with("revenue", #"{"value":"canary"}"#),
    ]
    let text = bodies.map(\.line).joined(separator: "\n") + "\n{\"password\":\"canary\"}\n{canary"
    let batch = normalise(
      text + "\n" + #"{"headers":{"Authorization":"Basic canary"},"body":"# + bodies[0].quoted + "}"
    )
    #expect(batch.lines == 8 && batch.events.count == 2 && batch.rejects.count == 6)
    let kept =
      batch.symbols.words.joined() + String(decoding: batch.arena, as: UTF8.self)
      + batch.rejects.map { $0.reason + $0.detail }.joined() + batch.skipped.keys.joined()
    #expect(!kept.contains("canary") && !kept.contains("192.0.2.99"))
    #expect(!kept.contains("Basic"))
  }
}
