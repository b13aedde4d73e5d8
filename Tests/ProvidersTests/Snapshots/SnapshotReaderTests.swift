import Testing
@testable import Domain
import Formats

@testable import Providers

@Suite("Snapshots of entitlements")
struct SnapshotReaderTests {
  @Test("REST v3: seconds, a nested product, a manual grant without product")
  func restV3() throws {
    let line = #"""
      {"user_id":"QON_1","captured_at":1760000000,"app_id":77,"data":[\#
      {"id":"premium","active":true,"started":1752000000,"expires":1762592000,\#
      "source":"appstore","product":{"product_id":"pro_monthly",\#
      "subscription":{"current_period_type":"normal","renew_state":"will_renew"}}},\#
      {"id":"support","active":true,"started":1751000000,"expires":null,"source":"manual"}]}
      """#
    let snapshot = try #require(readSnapshots(line).snapshots.first)
    #expect(snapshot.provider == .qonversion && snapshot.user == "QON_1" && snapshot.app == "77")
    #expect(snapshot.capturedAt == Instant(seconds: 1_760_000_000))
    #expect(snapshot.place == Provenance(line: 1, byteOffset: 0))
    let premium = Entitlement(
      id: "premium", product: "pro_monthly", isActive: true,
      startedAt: Instant(seconds: 1_752_000_000), expiresAt: Instant(seconds: 1_762_592_000),
      renewState: .willRenew, store: .appStore, isTrial: false)
    let support = Entitlement(
      id: "support", isActive: true, startedAt: Instant(seconds: 1_751_000_000), grant: .manual)
    #expect(snapshot.entitlements == [premium, support])
  }

  @Test("REST: a product without subscription does not renew, even after its access ended")
  func oneTime() throws {
    let line = #"""
      {"user_id":"u","captured_at":1760000000,"data":[{"id":"archive","active":false,\#
      "started":1752000000,"expires":1753000000,"source":"appstore",\#
      "product":{"product_id":"lifetime"}}]}
      """#
    let right = try #require(readSnapshots(line).snapshots.first?.entitlements.first)
    #expect(right.renewState == .nonRenewable)
  }

  @Test("REST v4: ISO times and is_active")
  func restV4() throws {
    let line = #"""
      {"object":"list","url":"/v4/users/QON_1/entitlements","user_id":"QON_1",\#
      "captured_at":"2025-10-09T08:53:20Z","data":[{"object":"user_entitlement","id":"premium",\#
      "is_active":true,"source":"playstore","started_at":"2025-07-08T18:40:00Z",\#
      "expires_at":"2025-11-08T08:53:20Z","product":{"product_id":"pro_monthly",\#
      "subscription":{"renew_state":"billing_issue","current_period_type":"trial"}}},\#
      {"id":"gift","is_active":false,"source":"paddle","started_at":null,"expires_at":null,\#
      "product":null}],"has_more":false}
      """#
    let rights = try #require(readSnapshots(line).snapshots.first?.entitlements)
    #expect(rights[0].startedAt == Instant(seconds: 1_752_000_000))
    #expect(rights[0].expiresAt == Instant(seconds: 1_762_592_000))
    #expect(rights[0].store == .playStore && rights[0].renewState == .billingIssue)
    #expect(rights[0].isTrial == true && rights[0].transactions.isEmpty)
    #expect(rights[1] == Entitlement(id: "gift", isActive: false))
  }

  @Test("SDK-internal names: integers and a list of transactions")
  func sdkInternal() throws {
    let line = #"""
      {"user_id":"u","captured_at":1760000000000,"entitlements":[{"id":"premium","active":0,\#
      "associated_product":"pro_monthly","current_period_type":"regular",\#
      "started_timestamp":1752000000,"expiration_timestamp":1760000000,"grant_type":"purchase",\#
      "auto_renew_disable_timestamp":1759000000,"renew_state":2,\#
      "renews_count":2,"source":"appstore","store_transactions":[\#
      {"environment":"production","original_transaction_id":"1","transaction_id":"1",\#
      "transaction_timestamp":1752000000,"expiration_timestamp":1754592000,\#
      "ownership_type":"owner","type":"subscription_started"},\#
      {"environment":"sandbox","original_transaction_id":"1","transaction_id":2,\#
      "transaction_timestamp":1754592000,"expiration_timestamp":1757184000,\#
      "transaction_revoke_timestamp":1755000000,"ownership_type":"family_sharing",\#
      "type":"subscription_renewed"}]}]}
      """#
    let snapshot = try #require(readSnapshots(line).snapshots.first)
    #expect(snapshot.capturedAt == Instant(seconds: 1_760_000_000))
    let first = SnapshotTransaction(
      id: "1", originalID: "1", kind: .started, at: Instant(seconds: 1_752_000_000),
      expiresAt: Instant(seconds: 1_754_592_000))
    let second = SnapshotTransaction(
      id: "2", originalID: "1", kind: .renewed, at: Instant(seconds: 1_754_592_000),
      expiresAt: Instant(seconds: 1_757_184_000), revokedAt: Instant(seconds: 1_755_000_000),
      environment: .sandbox, grant: .familySharing)
    #expect(
      snapshot.entitlements == [
        Entitlement(
          id: "premium", product: "pro_monthly", isActive: false,
          startedAt: Instant(seconds: 1_752_000_000), expiresAt: Instant(seconds: 1_760_000_000),
          renewState: .canceled, renewsCount: 2, store: .appStore, isTrial: false,
          autoRenewOffAt: Instant(seconds: 1_759_000_000),
          transactions: [first, second])
      ])
  }

  @Test(
    "A transaction that names an offer was paid at its price",
    arguments: [
      (#""type":"intro_renewed""#, SnapshotTransactionKind.introRenewed),
      (#""type":"introStarted""#, .introStarted),
      (#""type":"subscription_renewed","promo_offer_id":"back""#, .introRenewed),
      (#""type":"subscription_started","offer_code":"MAY""#, .introStarted),
      (#""type":"subscription_renewed","offer_code":null,"promo_offer_id":"""#, .renewed),
      (#""type":"trial_started","offer_code":"MAY""#, .trialStarted),
    ])
  func offers(members: String, kind: SnapshotTransactionKind) throws {
    let line =
      #"{"user_id":"u","captured_at":1,"entitlements":[{"id":"e","store_transactions":[{"#
      + #""transaction_id":"1",\#(members)}]}]}"#
    let right = try #require(readSnapshots(line).snapshots.first?.entitlements.first)
    #expect(right.transactions.map(\.kind) == [kind])
  }

  @Test("A transaction with id 0 is invalid, and its line is refused")
  func noTransaction() {
    for id in ["0", #""0""#] {
      let line =
        #"{"user_id":"u","captured_at":1,"entitlements":[{"id":"e","transactions":[{"#
        + #""transaction_id":\#(id),"original_transaction_id":\#(id)}]}]}"#
      #expect(readSnapshots(line).rejects.map(\.detail) == ["transactions.transaction_id"])
    }
  }

  @Test("SDK objects: camel case, names of states, a map by entitlement id")
  func sdkObjects() throws {
    let line = #"""
      {"userId":"u","capturedAt":1760000000,"entitlements":{"premium":{\#
      "isActive":true,"productId":"pro_monthly","renewState":"willRenew","source":"PlayStore",\#
      "startedDate":"2025-07-08T18:40:00Z","expirationDate":1762592000000,"renewsCount":3,\#
      "grantType":"FamilySharing","transactions":[{\#
      "originalTransactionId":"G","transactionId":"H",\#
      "transactionDate":1752000000,"expirationDate":"2025-11-08T08:53:20.000Z",\#
      "transactionRevocationDate":null,"environment":"Production","ownershipType":"Owner",\#
      "type":"TrialStarted"}]}}}
      """#
    let snapshot = try #require(readSnapshots(line).snapshots.first)
    let transaction = SnapshotTransaction(
      id: "H", originalID: "G", kind: .trialStarted, at: Instant(seconds: 1_752_000_000),
      expiresAt: Instant(seconds: 1_762_592_000))
    #expect(
      snapshot.entitlements == [
        Entitlement(
          id: "premium", product: "pro_monthly", isActive: true,
          startedAt: Instant(seconds: 1_752_000_000), expiresAt: Instant(seconds: 1_762_592_000),
          renewState: .willRenew, renewsCount: 3, store: .playStore, grant: .familySharing,
          transactions: [transaction])
      ])
  }

  @Test("The canonical format, for any provider")
  func canonical() throws {
    let line = #"""
      {"provider":"purple","user_id":9,"captured_at":"2026-11-20","entitlements":[{"id":"e",\#
      "product_id":"p","active":true,"expires_at":"2026-12-20T00:00:00Z",\#
      "renew_state":"canceled","renews_count":0,"source":"stripe","grant_type":"offer_code",\#
      "transactions":[{"transaction_id":"t","type":"non_consumable_purchase",\#
      "transaction_at":1760000000,"expires_at":null,"revoked_at":null,"product_id":"store.p"}]}]}
      """#
    let snapshot = try #require(readSnapshots(line).snapshots.first)
    #expect(snapshot.provider == .purple && snapshot.user == "9")
    #expect(snapshot.capturedAt.text == "2026-11-20T00:00:00Z")
    let right = snapshot.entitlements[0]
    #expect(right.grant == .offerCode && right.renewState == .canceled && right.store == .stripe)
    #expect(right.renewsCount == 0 && right.isTrial == nil)
    #expect(
      right.transactions == [
        SnapshotTransaction(
          id: "t", kind: .oneTime, product: "store.p", at: Instant(seconds: 1_760_000_000))
      ])
  }

  @Test(
    "Names of states in every spelling",
    arguments: [
      ("-1", RenewState.nonRenewable), ("0", .unknown), ("1", .willRenew), ("2", .canceled),
      ("3", .billingIssue), ("\"WILL_RENEW\"", .willRenew), ("\"will_renew\"", .willRenew),
      ("\".cancelled\"", .canceled), ("\"NonRenewable\"", .nonRenewable),
      ("\"BILLING_ISSUE\"", .billingIssue), ("\"soon\"", .unknown), ("\"\"", nil), ("null", nil),
    ])
  func renewStates(json: String, expected: RenewState?) throws {
    let line =
      #"{"user_id":"u","captured_at":1,"entitlements":[{"id":"e","renew_state":\#(json)}]}"#
    let right = try #require(readSnapshots(line).snapshots.first?.entitlements.first)
    #expect(right.renewState == expected)
  }

  @Test(
    "The SDK's dates of purchases are read in both spellings",
    arguments: [
      #""trial_start_timestamp":5,"first_purchase_timestamp":6,"last_purchase_timestamp":7,"#
        + #""last_activated_offer_code":"SPRING""#,
      #""trialStartDate":5,"firstPurchaseDate":6,"lastPurchaseDate":7,"#
        + #""lastActivatedOfferCode":"SPRING""#,
    ])
  func purchaseDates(members: String) throws {
    let line = #"{"user_id":"u","captured_at":9,"entitlements":[{"id":"e",\#(members)}]}"#
    let right = try #require(readSnapshots(line).snapshots.first?.entitlements.first)
    #expect(right.trialStartedAt == Instant(seconds: 5))
    #expect(right.firstPurchasedAt == Instant(seconds: 6))
    #expect(right.lastPurchasedAt == Instant(seconds: 7))
    #expect(right.hasOfferCode)
    let bare = #"{"user_id":"u","captured_at":9,"entitlements":[{"id":"e"}]}"#
    let other = try #require(readSnapshots(bare).snapshots.first?.entitlements.first)
    #expect(other.lastPurchasedAt == nil && !other.hasOfferCode)
  }

  @Test("A user without entitlements has a snapshot, too")
  func none() {
    let batch = readSnapshots(#"{"user_id":"u","captured_at":1,"data":[]}"#)
    #expect(batch.snapshots.first?.entitlements == [] && batch.rejects.isEmpty)
  }
}

/// The result of a new reader for `text`.
func readSnapshots(
  _ text: String, capturedAtDefault: Instant? = nil
) -> SnapshotBatch {
  var batch = SnapshotBatch()
  let reader = SnapshotReader()
  Array(text.utf8).withUnsafeBytes {
    reader.read(
      .lines($0, firstLine: 1, firstOffset: 0), capturedAtDefault: capturedAtDefault,
      to: &batch)
  }
  return batch
}
