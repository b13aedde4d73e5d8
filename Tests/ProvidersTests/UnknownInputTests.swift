import Testing
import Domain

@testable import Providers

@Suite("Unknown names are noted, never values")
struct UnknownInputTests {
  /// Unknown names in `text`, as `what name lines@first`.
  private func unknown(_ text: String, _ rules: NormaliserSettings = NormaliserSettings())
    -> [String]
  {
    normalise(text, rules: rules).unknown.lines.map { name, lines in
      "\(name.provider.name) \(name.subject.rawValue) \(name.name) \(lines.count)@\(lines.first)"
    }.sorted()
  }

  @Test("Samples of documented bodies contain nothing unknown except unknown events")
  func documented() throws {
    for body in [Body.renewal, .upgrade, .of2020] { #expect(unknown(body.line) == []) }
    #expect(unknown(#"{"receivedAt":1760000000,"headers":{},"body":\#(Body.renewal.line)}"#) == [])
  }

  @Test("Qonversion: event, platform and members, each line once")
  func qonversion() {
    let renamed = Body.renewal.with("event_name", #""my_cancel""#)
    let other = Body.renewal.with("platform", #""Roku""#).with("tier", #""canary""#)
      .with("price", #"{"value":1,"tax":2}"#)
    #expect(
      unknown([renamed.line, "", other.line, other.line].joined(separator: "\n")) == [
        "qonversion event_name my_cancel 1@1", "qonversion member tax 2@3",
        "qonversion member tier 2@3", "qonversion platform Roku 2@3",
      ])
    var rules = NormaliserSettings()
    rules.eventNames = ["my_cancel": .canceled]
    #expect(unknown(renamed.line, rules) == [])
    #expect(unknown(Body.renewal.with("platform", "\"\"").line) == [])
    #expect(unknown(other.without("user_id").line) == [], "a rejected line is not listed here")
  }

  @Test("FLOBUK: store and members of the body and of its data")
  func flobuk() {
    let line =
      #"{"transaction":"1","store":"Roku","timestamp":1760000000,"flag":1,"data":"#
      + #"{"productId":"p","type":"Subscription","sandbox":false,"cancelReason":1,"tier":1}}"#
    #expect(
      unknown(line) == [
        "flobuk member flag 1@1", "flobuk member tier 1@1", "flobuk store Roku 1@1",
      ])
  }

  @Test("Headers next to the body are known if a provider's are read, in any case")
  func headers() {
    let line =
      #"{"transaction":"1","store":"GooglePlay","timestamp":1760000000,"data":{"productId":"p"},"#
      + #""X-App-Id":"a","x-auth-key":"k","Authorization":"b","User-Agent":"canary"}"#
    #expect(unknown(line) == ["flobuk member User-Agent 1@1"])
  }

  @Test("iaptic: reason, platform and members of purchases, counted once a line")
  func iaptic() {
    let purchase =
      #"{"productId":"p","platform":"roku","purchaseDate":"2025-11-01T00:00:00Z","tier":1}"#
    let line =
      #"{"type":"purchases.updated","applicationUsername":"u","password":"canary","#
      + #""purchases":{"p":\#(purchase),"q":\#(purchase)},"notification":{"reason":"GIFTED","#
      + #""id":"n","date":"2025-11-02T00:00:00Z","tone":1}}"#
    let expected = [
      "iaptic event_name GIFTED 1@1", "iaptic member tier 1@1", "iaptic member tone 1@1",
      "iaptic platform roku 1@1",
    ]
    #expect(unknown(line) == expected)
    let test = #"{"type":"test","password":"canary"}"#
    #expect(
      unknown(test + "\n" + line + "\n" + test).map { $0.dropLast(2) }
        == expected.map { $0.dropLast(2) })
  }

  @Test("Purple: type and members of the body and of its properties")
  func purple() {
    let line =
      #"{"type":"SUBSCRIPTION_GIFTED","eventTimeMillis":1760000000123,"tone":1,"properties":"#
      + #"{"transactionId":"1","productId":"p","introOfferPeriod":"false","tier":1}}"#
    #expect(
      unknown(line) == [
        "purple event_name SUBSCRIPTION_GIFTED 1@1", "purple member tier 1@1",
        "purple member tone 1@1",
      ])
  }

  @Test(
    "A name that may be an id or a secret is withheld",
    arguments: [
      ("user_12345", false), ("plan_2026", true), ("me@example.com", false),
      ("Meine Kündigung", true),
      (String(repeating: "a", count: 49), false), (String(repeating: "a", count: 48), true),
      ("a/b", false), ("sk_live.x", true), ("", true), ("offer_v2", true), ("x4n4ry", false),
    ])
  func withheld(name: String, isShown: Bool) {
    let line = Body.renewal.with(name, "1").line
    #expect(unknown(line) == ["qonversion member \(isShown ? name : "(withheld)") 1@1"])
  }

  @Test("An event's name may have letters after digits, because the configuration needs it")
  func numbered() {
    let line = Body.renewal.with("event_name", "\"trial_3days_over\"").line
    #expect(unknown(line) == ["qonversion event_name trial_3days_over 1@1"])
  }

  @Test("Names beyond the limit are counted together, in the order of their lines")
  func many() {
    var names = UnknownInput(namesMax: 3)
    for (value, name) in ["a", "b", "a", "c", "d", "e", "d"].enumerated() {
      Array(name.utf8).withUnsafeBytes {
        names.add(.purple, .member, $0, value: Int64(value), line: Int64(value + 1))
      }
    }
    func shown(_ names: UnknownInput) -> [String] {
      names.lines.map { "\($0.name) \($1.count)@\($1.first)" }.sorted()
    }
    #expect(shown(names) == ["(more) 3@5", "a 2@1", "b 1@2", "c 1@4"])
    var whole = UnknownInput(namesMax: 2)
    whole.add(names)
    #expect(shown(whole) == ["(more) 4@4", "a 2@1", "b 1@2"])
  }
}
