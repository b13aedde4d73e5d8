import Testing
import Domain

@testable import Providers

@Suite("The purchase that an iaptic notification is about")
struct IapticSubjectTests {
  private func member(_ key: String, _ product: String, transaction: String = "apple:23") -> String
  {
    """
    "\(key)":{"productId":"\(product)","purchaseId":"apple:21","transactionId":"\(transaction)",\
    "platform":"ios-appstore","purchaseDate":"2025-07-08T18:40:00.000Z",\
    "expirationDate":"2025-11-08T18:40:00.000Z","isExpired":false}
    """
  }

  /// A body with a notification about transaction `transaction`.
  private func body(
    _ purchases: [String], reason: String = "PURCHASED", date: String = "2025-10-10T09:00:00Z",
    product: String = "apple:pro", transaction: String = "apple:23", id: String = "n",
    user: String = "u"
  ) -> String {
    """
    {"type":"purchases.updated","applicationUsername":"\(user)","notification":{"reason":\
    "\(reason)","id":"\(id)","date":"\(date)","productId":"\(product)",\
    "purchaseId":"apple:21","transactionId":"\(transaction)"},\
    "purchases":{\(purchases.joined(separator: ","))}}
    """
  }

  /// The product of the event that the notification is about.
  private func reported(_ members: [String], product: String, reason: String = "RENEWED") -> String?
  {
    let batch = normalise(body(members, reason: reason, product: product))
    return batch.events.first.map { batch.symbols.words[Int($0.product)] }
  }

  @Test("Of several products in one transaction, the named product counts")
  func named() {
    let members = [member("a", "pro_a"), member("b", "pro_b"), member("c", "pro_c")]
    for order in [members, members.reversed()] {
      #expect(reported(order, product: "apple:pro_b") == "pro_b")
      #expect(reported(order, product: "apple:pro_c", reason: "UNHEARD_OF") == "pro_c")
    }
  }

  @Test("If no product is named, the order of members has no effect")
  func unnamed() {
    let members = [member("b", "pro_b"), member("a", "pro_a"), member("c", "pro_c")]
    for order in [members, members.reversed(), [members[1], members[2], members[0]]] {
      #expect(reported(order, product: "apple:monthly") == "pro_a")
      #expect(reported(order, product: "", reason: "UNHEARD_OF") == "pro_a")
    }
  }

  @Test("A product is named with its store, because two stores can sell one id")
  func shops() {
    let members = [
      member("apple:pro", "apple:pro"),
      member("google:pro", "google:pro").replacing("apple:2", with: "google:GPA.2")
        .replacing("ios-appstore", with: "google"),
    ]
    func stores(_ product: String, _ members: [String]) -> [Store] {
      let line = """
        {"type":"purchases.updated","applicationUsername":"u","notification":{"reason":"REFUNDED",\
        "id":"n","date":"2025-10-10T09:00:00Z","productId":"\(product)"},\
        "purchases":{\(members.joined(separator: ","))}}
        """
      return normalise(line).events.filter { $0.kind == .refunded }.map(\.store)
    }
    for order in [members, members.reversed()] {
      #expect(stores("google:pro", order) == [.playStore])
      #expect(stores("apple:pro", order) == [.appStore])
      #expect(stores("pro", order) == [.appStore])
    }
    #expect(stores("google:pro", [members[0]]) == [.playStore])
    let unknown = members[0].replacing("ios-appstore", with: "roku").replacing("apple:", with: "")
    #expect(stores("google:pro", [unknown]) == [.unknown])
  }

  @Test("A repurchase begins with its message, not with the date of the first purchase")
  func boughtAnew() {
    func start(_ transaction: String, _ date: String, _ change: (String) -> String = { $0 })
      -> [Instant?]
    {
      let purchase = change("\(member("a", "pro", transaction: transaction).dropLast())}")
      return normalise(body([purchase], date: date, transaction: transaction))
        .events.filter { $0.kind != .observed }.map(\.periodStart)
    }
    let bought = Instant(milliseconds: 1_752_000_000_000)
    #expect(start("apple:23", "2025-10-08T18:40:00Z") == [nil])
    // The first purchase, reported late, or another transaction bought just now.
    #expect(start("apple:21", "2025-07-20T18:40:00Z") == [bought])
    #expect(start("apple:23", "2025-07-09T18:40:00Z") == [bought])
    // A one-time purchase, and one with its own date.
    #expect(
      start("apple:23", "2025-10-08T18:40:00Z") {
        $0.replacing(#""expirationDate":"2025-11-08T18:40:00.000Z","#, with: "")
      } == [bought])
    #expect(
      start("apple:23", "2025-10-08T18:40:00Z") {
        $0.replacing("}", with: #","lastRenewalDate":"2025-10-08T18:39:00.000Z"}"#)
      } == [bought + .days(92) - .minutes(1)])
  }

  @Test("A purchase without an amount keeps its currency for the price book")
  func currencyAlone() throws {
    for (reason, kind) in [("PURCHASED", EventKind.started), ("WILL_LAPSE", .canceled)] {
      let purchase = #"\#(member("a", "pro").dropLast()),"currency":"GBP","amountMicros":null}"#
      let batch = normalise(body([purchase], reason: reason))
      let event = try #require(batch.events.first { $0.kind == kind }, "\(reason)")
      // In an event without money, it is the price of a charge that only this state shows.
      let (revenue, price) = (event.revenue, event.price)
      #expect((revenue != nil, price != nil) == (kind == .started, kind != .started))
      #expect(batch.word(revenue?.currency ?? price?.currency ?? 0) == "GBP")
      #expect(revenue?.hasAmount != true && price?.local == nil && price?.usd == nil)
    }
  }

  @Test("An amount in US dollars is known even if `amountUSD` is null")
  func dollars() throws {
    for (currency, isKnown) in [("USD", true), ("GBP", false)] {
      let amount = #""currency":"\#(currency)","amountMicros":9990000,"amountUSD":null"#
      let batch = normalise(body(["\(member("a", "pro").dropLast()),\(amount)}"]))
      let revenue = try #require(batch.events.first { $0.kind == .started }?.revenue)
      #expect(revenue.local == Amount(micros: 9_990_000))
      #expect(revenue.usd == (isKnown ? revenue.local : nil))
    }
  }

  @Test("A purchase without its own id starts with its transaction")
  func noPurchaseID() {
    let line = """
      {"type":"purchases.updated","applicationUsername":"u","notification":{"reason":"PURCHASED",\
      "id":"n","date":"2025-10-10T09:00:00Z","productId":"pro","transactionId":"apple:23"},\
      "purchases":{\(member("a", "pro"))}}
      """
    #expect(normalise(line).events.map(\.startsLineage) == [false])
    let bare = line.replacing(#""purchaseId":"apple:21","#, with: "")
    #expect(normalise(bare).events.map(\.startsLineage) == [true])
  }

  @Test("The reason of a cancellation follows its word")
  func cancelation() {
    let reasons: [(String, ChurnReason?)] = [
      ("Customer", .voluntary), ("Customer.PriceIncrease", .priceIncrease),
      ("Developer", .developer), ("System.ProductUnavailable", .developer),
      ("System.BillingError", .involuntary), ("System", nil), ("", nil),
    ]
    for (word, reason) in reasons {
      let reported = Array(word.utf8).withUnsafeBytes { iapticChurnReason($0) }
      #expect(reported == reason, "\(word)")
    }
  }

  @Test("A named transaction takes precedence over the product")
  func transaction() {
    let members = [member("a", "pro_a", transaction: "apple:22"), member("b", "pro_b")]
    for order in [members, members.reversed()] {
      #expect(reported(order, product: "apple:pro_a") == "pro_b")
    }
  }

  /// A body of notification `id` about transaction `reported`; its collection shows `shown`.
  private func copy(
    id: String = "n", of user: String = "u", reported: String = "apple:22",
    shown: String = "apple:23", date: String = "2025-10-10T09:00:00Z", reason: String = "PURCHASED",
    isTrial: Bool = false
  ) -> EventBatch {
    let purchase = member("a", "pro", transaction: shown).dropLast()
    return normalise(
      body(
        [#"\#(purchase),"isTrialPeriod":\#(isTrial)}"#], reason: reason, date: date, product: "pro",
        transaction: reported, id: id, user: user))
  }

  @Test("The reported transaction belongs to the event, whatever the collection shows")
  func olderTransaction() throws {
    for reason in ["REFUNDED", "RENEWED", "REVOKED", "EXPIRED", "WILL_LAPSE"] {
      let batch = copy(reason: reason)
      #expect(batch.texts.map { batch.text($0.transaction) } == ["22", "23"])
      #expect(batch.texts.map { batch.text($0.original) } == ["21", "21"])
      #expect(batch.events.map { $0.observation == nil } == [true, false])
      #expect(batch.events[0].periodEnd == nil && batch.events[0].revenue == nil)
      #expect(batch.events[1].kind == .observed && batch.events[1].periodEnd != nil)
    }
  }

  @Test("A charge after the message is not the reported one, even under the same id")
  func laterCharge() throws {
    for (charged, isReported) in [("2025-10-11T08:00:00Z", true), ("2025-11-08T18:40:00Z", false)] {
      let purchase = #"\#(member("a", "pro").dropLast()),"lastRenewalDate":"\#(charged)"}"#
      let batch = normalise(body([purchase], reason: "RENEWED", product: "pro"))
      #expect(batch.events.map(\.kind) == (isReported ? [.renewed] : [.renewed, .observed]))
      #expect((batch.events[0].observation != nil) == isReported)
      #expect((batch.events[0].periodEnd != nil) == isReported)
    }
  }

  @Test("Copies of one notification are one message, whatever they contain")
  func copies() throws {
    let copies = [
      copy(shown: "apple:22", isTrial: true), copy(), copy(shown: "apple:24"),
      copy(date: "2025-10-10T09:00:07Z"), copy(reported: "apple:23"), copy(reason: "RENEWED"),
    ]
    #expect(copies.map { $0.events[0].kind }.prefix(2) == [.trialStarted, .started])
    #expect(Set(copies.flatMap { $0.events.map(\.collection) }).count == 1)
    let others = [copy(id: "m"), copy(of: "v")].map { $0.events[0].collection }
    #expect(Set(others + [copies[0].events[0].collection]).count == 3)
  }

  @Test("Equal transaction, time, kind and state are one event, whatever the notification's id")
  func otherID() throws {
    for shown in ["apple:22", "apple:23"] {
      let (one, other) = (copy(shown: shown), copy(id: "m", shown: shown))
      #expect(one.events.map(\.identity) == other.events.map(\.identity))
      #expect(one.events[0].collection != other.events[0].collection)
    }
    let base = copy(shown: "apple:22").events[0].identity
    let others = [
      copy(of: "v", shown: "apple:22"), copy(reported: "apple:21", shown: "apple:21"),
      copy(shown: "apple:22", date: "2025-10-10T09:00:07Z"),
      copy(shown: "apple:22", reason: "RENEWED"), copy(shown: "apple:22", isTrial: true),
    ]
    #expect(others.allSatisfy { $0.events[0].identity != base })
  }

  @Test("Bodies without an id are one message unless their content or time differs")
  func withoutID() throws {
    let bodies = [
      copy(id: ""), copy(id: "", reason: "REFUNDED"), copy(id: "", date: "2025-10-10T09:00:07Z"),
      copy(id: "", shown: "apple:24"),
    ]
    #expect(Set(bodies.map { $0.events[0].collection }).count == 4)
    #expect(copy(id: "").events[0].collection == bodies[0].events[0].collection)
  }

  @Test("A user's id is kept once per body, which may contain at most 10,000 purchases")
  func manyPurchases() throws {
    func body(_ count: Int) -> String {
      let members = (1...count).map {
        #""p\#($0)":{"purchaseId":"\#($0)","purchaseDate":1760000000}"#
      }
      let user = String(repeating: "u", count: 1_000)
      return """
        {"type":"purchases.updated","applicationUsername":"\(user)",\
        "purchases":{\(members.joined(separator: ","))}}
        """
    }
    let batch = normalise(body(10_000))
    #expect(batch.events.count == 10_000 && batch.arena.count < 60_000)
    #expect(Set(batch.texts.map { batch.text($0.user).count }) == [1_000])
    #expect(refusal(body(10_001)) == ["bad_field", "purchases: more than 10000"])
  }
}
