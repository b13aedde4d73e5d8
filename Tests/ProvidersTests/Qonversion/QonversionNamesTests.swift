import Testing
import Domain

@testable import Providers

@Suite("Qonversion's names")
struct QonversionNamesTests {
  private func kind(_ name: String, rules: NormaliserSettings = NormaliserSettings()) -> EventKind?
  {
    normalise(Body.renewal.with("event_name", quote(name)).line, rules: rules).events.first?.kind
  }

  @Test(
    "Every default event name has its kind",
    arguments: [
      ("trial_started", EventKind.trialStarted), ("trial_converted", .trialConverted),
      ("trial_canceled", .trialCanceled), ("trial_cancelled", .trialCanceled),
      ("trial_billing_retry_entered", .trialBillingRetry), ("trial_expired", .trialExpired),
      ("subscription_started", .started), ("subscription_renewed", .renewed),
      ("subscription_upgraded", .upgraded), ("subscription_downgraded", .downgraded),
      ("subscription_product_changed", .productChanged), ("subscription_canceled", .canceled),
      ("subscription_cancelled", .canceled),
      ("subscription_billing_retry_entered", .billingRetry),
      ("subscription_expired", .expired), ("subscription_refunded", .refunded),
      ("in_app_purchase", .purchased), ("in_app_refunded", .purchaseRefunded),
      ("Trial Started", .trialStarted), ("Subscription Billing Retry", .billingRetry),
      ("In-App Purchase", .purchased), ("Trial Cancelled", .trialCanceled),
    ])
  func defaults(name: String, expected: EventKind) { #expect(kind(name) == expected) }

  @Test("An unknown name is kept as an event of kind other, distinguished by its name")
  func unknown() throws {
    let first = normalise(Body.renewal.with("event_name", "\"refund_declined\"").line)
    let second = normalise(Body.renewal.with("event_name", "\"refund_consumption\"").line)
    #expect(first.events[0].kind == .other)
    #expect(first.word(first.events[0].name) == "refund_declined")
    #expect(first.events[0].identity != second.events[0].identity)
  }

  @Test("A configured name overrides the default for that name")
  func configured() {
    var rules = NormaliserSettings()
    rules.eventNames = ["Abo verlängert": .renewed, "subscription_canceled": .expired]
    #expect(kind("Abo verlängert", rules: rules) == .renewed)
    #expect(kind("subscription_canceled", rules: rules) == .expired)
    #expect(kind("subscription_expired", rules: rules) == .expired)
    rules.eventNames = ["trial_still_active": .other]
    #expect(kind("trial_still_active", rules: rules) == .other)
  }

  @Test("The reminder of an active trial is skipped and counted")
  func stillActive() {
    let names = ["trial_still_active", "Trial is active two days after started"]
    for name in names {
      let batch = normalise(Body.renewal.with("event_name", quote(name)).line)
      #expect(batch.events.isEmpty && batch.rejects.isEmpty && batch.lines == 1)
      #expect(batch.skipped == ["trial_still_active": 1])
    }
  }

  @Test(
    "A platform gives its store in any case",
    arguments: [
      ("iOS", Store.appStore), ("ANDROID", .playStore), ("Stripe", .stripe),
      ("macOS", .macAppStore), ("amazon", .amazon), ("Windows", .windows), ("PayPal", .paypal),
      ("Paddle", .unknown), ("", .unknown),
    ])
  func platforms(word: String, expected: Store) {
    let batch = normalise(Body.renewal.with("platform", quote(word)).line)
    #expect(batch.events.first?.store == expected)
  }

  @Test("Sandbox is recognized in any case; no value means production; other words are refused")
  func environments() {
    func environment(_ json: String) -> Environment? {
      normalise(Body.renewal.with("environment", json).line).events.first?.environment
    }
    #expect(environment("\"sandbox\"") == .sandbox && environment("\"SANDBOX\"") == .sandbox)
    #expect(environment("\"Production\"") == .production && environment("\"\"") == .production)
    #expect(environment("null") == .production)
    #expect(
      refusal(Body.renewal.with("environment", "\"staging\"").line)
        == ["bad_field", "environment: expected production or sandbox"])
  }
}
