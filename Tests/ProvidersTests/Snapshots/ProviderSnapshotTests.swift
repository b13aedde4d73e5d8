import Testing
@testable import Domain

@testable import Providers

@Suite("Snapshots of iaptic and FLOBUK")
struct ProviderSnapshotTests {
  private static let captured = Instant(seconds: 1_760_000_000)
  private static let end = Instant(seconds: 1_762_592_000)

  private func rights(_ line: String) throws -> [Entitlement] {
    try #require(readSnapshots(line).snapshots.first).entitlements
  }

  @Test("iaptic: a collection of purchases, ids without platforms")
  func iapticPurchases() throws {
    let line = #"""
      {"applicationUsername":"u-1","captured_at":1760000000,"password":"canary","purchases":{\#
      "apple:pro":{"productId":"apple:pro","purchaseId":"apple:1","transactionId":"apple:3",\#
      "platform":"apple","sandbox":false,"purchaseDate":"2025-07-08T18:40:00.000Z",\#
      "lastRenewalDate":"2025-10-08T18:40:00.000Z","expirationDate":"2025-11-08T08:53:20.000Z",\#
      "isExpired":false,"renewalIntent":"Lapse","isTrialPeriod":false,\#
      "renewalIntentChangeDate":"2025-10-09T00:00:00.000Z"},\#
      "google:gems":{"purchaseId":"google:GPA.1-2","transactionId":"google:GPA.1-2",\#
      "platform":"google","purchaseDate":"2025-10-01T00:00:00.000Z","isSharedPurchase":true}}}
      """#
    let snapshot = try #require(readSnapshots(line).snapshots.first)
    #expect(snapshot.provider == .iaptic && snapshot.user == "u-1" && snapshot.app.isEmpty)
    let renewed = Instant(seconds: 1_759_948_800)
    let pro = Entitlement(
      id: "1", product: "pro", isActive: true, startedAt: Instant(seconds: 1_752_000_000),
      expiresAt: Self.end, renewState: .canceled, store: .appStore, isTrial: false,
      autoRenewOffAt: Instant(seconds: 1_759_968_000),
      transactions: [
        SnapshotTransaction(
          id: "3", originalID: "1", product: "pro", at: renewed, expiresAt: Self.end)
      ])
    let bought = Instant(seconds: 1_759_276_800)
    let gems = Entitlement(
      id: "GPA.1-2", product: "gems", isActive: true, startedAt: bought, renewState: .nonRenewable,
      store: .playStore, grant: .familySharing,
      transactions: [
        SnapshotTransaction(
          id: "GPA.1-2", originalID: "GPA.1-2", kind: .oneTime, product: "gems", at: bought,
          grant: .familySharing)
      ])
    #expect(snapshot.entitlements == [pro, gems])
  }

  @Test(
    "iaptic: whether access is on, and how it continues",
    arguments: [
      (#""isExpired":true,"renewalIntent":"Lapse""#, false, RenewState.canceled),
      (#""isExpired":false,"renewalIntent":"Renew""#, true, .willRenew),
      (#""renewalIntent":"Renew","isBillingRetryPeriod":true"#, true, .billingIssue),
      (#""renewalIntent":"Cancel","isPending":true"#, false, .canceled),
      (#""expirationDate":"2025-10-09T08:53:20.000Z""#, false, nil),
      (#""isExpired":false,"cancelationReason":"System.Deleted""#, false, nil),
    ])
  func iapticStates(members: String, isActive: Bool, state: RenewState?) throws {
    let line = #"""
      {"applicationUsername":"u","captured_at":1760000000,"purchases":{"apple:p":{\#
      "purchaseId":"apple:1","expirationDate":"2025-11-08T08:53:20.000Z",\#(members)}}}
      """#
    let right = try #require(try rights(line).first)
    #expect(right.isActive == isActive && right.renewState == state && right.product == "p")
    #expect(right.transactions.isEmpty, "the first years have no transaction ids")
  }

  @Test("iaptic: a sandbox purchase is marked even without a transaction id")
  func iapticSandbox() throws {
    let line = #"""
      {"applicationUsername":"u","captured_at":1,"purchases":[{"productId":"apple:p",\#
      "purchaseId":"apple:1","sandbox":true}]}
      """#
    let right = try #require(try rights(line).first)
    #expect(right.transactions.map(\.environment) == [.sandbox])
  }

  @Test("iaptic: one subscription or none, as versions 1 and 2 return it")
  func iapticSubscription() throws {
    let line = #"""
      {"applicationUsername":"u","captured_at":1760000000,"subscription":{\#
      "productId":"ios-pro","purchaseId":"ios-1","expiresAt":1762592000000,\#
      "subscribedAt":1752000000000,"renewedAt":1760000000000,"renewalIntent":"Renew"}}
      """#
    let right = try #require(try rights(line).first)
    #expect(right.id == "1" && right.product == "pro" && right.store == .appStore)
    #expect(right.isActive == true && right.expiresAt == Self.end && right.renewState == .willRenew)
    #expect(right.startedAt == Instant(seconds: 1_752_000_000))
    for none in ["null", "{}"] {
      let batch = readSnapshots(
        #"{"applicationUsername":"u","captured_at":1,"subscription":\#(none)}"#)
      #expect(batch.snapshots.first?.entitlements == [] && batch.snapshots[0].provider == .iaptic)
    }
  }

  @Test("iaptic: a list of customers is one snapshot per customer whose purchases are known")
  func iapticCustomers() throws {
    let batch = readSnapshots(
      #"""
      {"captured_at":1760000000,"paging":{"skip":0,"limit":4,"total":4},"rows":[\#
      {"applicationUsername":"a","receiptIds":["r"],"customerInfo":{\#
      "lastPurchaseId":"google:GPA.1..4","lastPurchaseDate":"2025-07-08T18:40:00.000Z",\#
      "expirationDate":"2025-11-08T08:53:20.000Z","activeSubscriber":true,\#
      "renewalIntent":"Renew"}},\#
      {"applicationUsername":"b","customerInfo":{"lastPurchaseId":"apple:2",\#
      "lapsedSubscriber":true,"renewalIntent":"Lapse"}},\#
      {"applicationUsername":"unknown","customerInfo":{},"receiptIds":["s"]},\#
      {"applicationUsername":"c","customerInfo":{},"receiptIds":[]}]}
      """#)
    #expect(batch.lines == 1 && batch.rejects.isEmpty)
    #expect(batch.snapshots.map(\.user) == ["a", "b", "c"])
    #expect(batch.snapshots.allSatisfy { $0.provider == .iaptic && $0.place.line == 1 })
    let active = Entitlement(
      id: "GPA.1", isActive: true, startedAt: Instant(seconds: 1_752_000_000), expiresAt: Self.end,
      renewState: .willRenew, store: .playStore)
    let lapsed = Entitlement(id: "2", isActive: false, renewState: .canceled, store: .appStore)
    #expect(batch.snapshots.map(\.entitlements) == [[active], [lapsed], []])
  }

  @Test("iaptic: in the canonical format, ids may have a platform, and products begin with `ios-`")
  func iapticCanonical() throws {
    for (sent, product) in [("ios-p", "ios-p"), ("apple:ios-p", "ios-p"), ("apple:p", "p")] {
      let line = #"""
        {"provider":"iaptic","user_id":"u","captured_at":1,"entitlements":[{"id":"e",\#
        "product_id":"\#(sent)"}]}
        """#
      #expect(try rights(line).map(\.product) == [product])
    }
  }

  @Test("iaptic: a list of one user's purchases, as version 3 returns it")
  func iapticRows() throws {
    let line = #"""
      {"applicationUsername":"u","captured_at":1,"rows":[{"productId":"stripe:p",\#
      "purchaseId":"stripe:sub_1","transactionId":"stripe:in_1"}]}
      """#
    let right = try #require(try rights(line).first)
    #expect(right.id == "sub_1" && right.store == .stripe && right.transactions[0].id == "in_1")
  }

  @Test("FLOBUK: states without ids, one per product")
  func flobukPurchases() throws {
    let line = #"""
      {"user":"u-3","app_id":"a1B2c3D4e5F6g7H8","captured_at":1760000000,"purchases":[\#
      {"data":{"status":0,"type":"Subscription","expiresDate":1762592000,"autoRenew":true,\#
      "billingRetry":false,"productId":"pro","groupId":"g","sandbox":false}},\#
      {"data":{"type":"Non-Consumable","productId":"no_ads","sandbox":false}}]}
      """#
    let snapshot = try #require(readSnapshots(line).snapshots.first)
    #expect(snapshot.provider == .flobuk && snapshot.user == "u-3")
    #expect(snapshot.app == "a1B2c3D4e5F6g7H8" && snapshot.capturedAt == Self.captured)
    let pro = Entitlement(
      id: "pro", product: "pro", isActive: true, expiresAt: Self.end, renewState: .willRenew)
    let ads = Entitlement(
      id: "no_ads", product: "no_ads", isActive: true, renewState: .nonRenewable)
    #expect(snapshot.entitlements == [pro, ads])
  }

  @Test(
    "FLOBUK: whether access is on, and how it continues",
    arguments: [
      (#""status":3,"autoRenew":false"#, false, RenewState.canceled),
      (#""status":1,"autoRenew":true"#, true, .willRenew),
      (#""status":4,"autoRenew":true,"billingRetry":true"#, true, .billingIssue),
      (#""autoRenew":false"#, true, .canceled),
      (#""status":0,"expiresDate":1760000000"#, false, nil),
    ])
  func flobukStates(members: String, isActive: Bool, state: RenewState?) throws {
    let line = #"""
      {"user":"u","captured_at":1760000000,"purchases":[{"data":{"type":"Subscription",\#
      "productId":"p","expiresDate":1762592000,\#(members)}}]}
      """#
    let right = try #require(try rights(line).first)
    #expect(right.isActive == isActive && right.renewState == state)
  }

  @Test("FLOBUK: the sandbox, and a transaction and store if they were added")
  func flobukExtras() throws {
    let line = #"""
      {"user":"u","captured_at":1,"purchases":[{"data":{"productId":"p","sandbox":true}},\#
      {"transaction":"GPA.1..2","store":"GooglePlay","data":{"productId":"q"}}]}
      """#
    let rights = try rights(line)
    #expect(rights[0].transactions.map(\.environment) == [.sandbox])
    #expect(rights[1].store == .playStore)
    #expect(
      rights[1].transactions == [
        SnapshotTransaction(id: "GPA.1..2", originalID: "GPA.1", product: "q")
      ])
  }

  @Test("A user without purchases has a snapshot, too")
  func none() throws {
    let iaptic = readSnapshots(#"{"applicationUsername":"u","captured_at":1,"purchases":{}}"#)
    let list = readSnapshots(#"{"applicationUsername":"u","captured_at":1,"purchases":[]}"#)
    let flobuk = readSnapshots(#"{"user":"u","captured_at":1,"purchases":[]}"#)
    #expect(iaptic.snapshots.map(\.provider) == [.iaptic] && list.snapshots == iaptic.snapshots)
    #expect(flobuk.snapshots.map(\.provider) == [.flobuk])
    #expect(readSnapshots(#"{"user":"u","purchases":[]}"#).needsCapturedAt)
  }

  @Test("The format for any provider has the ids that events have", arguments: Provider.allCases)
  func shared(provider: Provider) throws {
    let line = #"""
      {"provider":"\#(provider.name)","user_id":"u","captured_at":1,"entitlements":[{"id":"e",\#
      "product_id":"google:p","active":true,"transactions":[\#
      {"transaction_id":"GPA.1..2"},{"transaction_id":"GPA.1"},\#
      {"transaction_id":"apple:7","original_transaction_id":"apple:6"}]}]}
      """#
    let snapshot = try #require(readSnapshots(line).snapshots.first)
    #expect(snapshot.provider == provider)
    let right = snapshot.entitlements[0]
    #expect(right.product == (provider == .iaptic ? "p" : "google:p"))
    let ids = right.transactions.map { $0.id + " " + $0.originalID }
    switch provider {
    case .qonversion: #expect(ids == ["GPA.1..2 ", "GPA.1 ", "apple:7 apple:6"])
    case .iaptic: #expect(ids == ["GPA.1..2 GPA.1", "GPA.1 ", "7 6"])
    case .flobuk, .purple: #expect(ids == ["GPA.1..2 GPA.1", "GPA.1 ", "apple:7 apple:6"])
    }
  }
}
