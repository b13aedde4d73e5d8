import Testing
import Domain

@testable import Providers

@Suite("Snapshots of purchases")
struct PurchaseReaderTests {
  private func purchase(
    _ id: String, of original: String = "1", at day: String = "2025-01-01", until end: String?,
    renews: Bool = true, platform: String = "app_store", product: String = "pro.monthly",
    storeProduct: String? = nil, price: String = "\"9.99\""
  ) -> String {
    let own = storeProduct.map { ",\"product_id\":\"\($0)\"" } ?? ""
    let until = end.map { "\"\($0)T00:00:00Z\"" } ?? "null"
    return #"""
      {"object":"purchase","id":"9\#(id)","user_id":"u","platform":"\#(platform)",\#
      "product_id":"\#(product)","currency":"EUR","price":\#(price),\#
      "purchased_at":"\#(day)T00:00:00Z","expires_at":\#(until),"is_auto_renewing":\#(renews),\#
      "store_data":{"transaction_id":"\#(id)",\#
      "original_transaction_id":"\#(original)"\#(own)}}
      """#
  }

  private func read(_ purchases: [String], more: String = "false") -> SnapshotBatch {
    readSnapshots(
      #"{"user_id":"u","captured_at":1,"has_more":\#(more),"data":["#
        + purchases.joined(separator: ",") + "]}")
  }

  @Test("Purchases of one subscription become one entitlement, whatever their order")
  func grouped() throws {
    let first = purchase("1", until: "2025-02-01")
    let second = purchase(
      "2", at: "2025-02-01", until: "2025-03-01", renews: false, product: "pro.yearly")
    for purchases in [[first, second], [second, first]] {
      let rights = try #require(read(purchases).snapshots.first?.entitlements)
      try #require(rights.count == 1)
      #expect(rights[0].id == "1" && rights[0].product == "pro.yearly")
      #expect(rights[0].startedAt?.text == "2025-01-01T00:00:00Z")
      #expect(rights[0].expiresAt?.text == "2025-03-01T00:00:00Z")
      #expect(rights[0].renewState == .canceled && rights[0].isActive == nil)
      #expect(rights[0].store == .appStore && !rights[0].transactions.isEmpty)
      #expect(Set(rights[0].transactions.map(\.id)) == ["1", "2"])
      #expect(rights[0].transactions.allSatisfy { $0.originalID == "1" })
    }
  }

  @Test("A one-time purchase has no end and does not renew")
  func oneTime() throws {
    let line = purchase("7", of: "", until: nil, renews: false)
    let right = try #require(read([line]).snapshots.first?.entitlements.first)
    #expect(right.id == "7" && right.renewState == .nonRenewable && right.expiresAt == nil)
    #expect(right.transactions[0].kind == .oneTime)
  }

  @Test("The store's product id takes precedence; Play's outer id adds its base plan")
  func products() {
    let play = purchase(
      "G.1", of: "G.1", until: "2025-02-01", platform: "play_store", product: "pro:monthly")
    let named = purchase(
      "G.2", of: "G.2", until: "2025-02-01", platform: "play_store", product: "pro:monthly",
      storeProduct: "sku")
    let both = purchase(
      "G.3", of: "G.3", until: "2025-02-01", platform: "play_store", product: "pro:monthly",
      storeProduct: "pro")
    let rights = read([play, named, both]).snapshots.first?.entitlements ?? []
    #expect(rights.map(\.product) == ["pro:monthly", "sku", "pro:monthly"])
    #expect(rights[0].store == .playStore)
  }

  @Test("An incomplete list is refused, because missing entries would look ended")
  func incomplete() {
    let line = purchase("1", until: "2025-02-01")
    #expect(read([line], more: "true").rejects.map(\.reason) == ["incomplete_list"])
    let entitlements = #"{"user_id":"u","captured_at":1,"has_more":true,"data":[{"id":"e"}]}"#
    #expect(readSnapshots(entitlements).rejects.map(\.reason) == ["incomplete_list"])
  }

  @Test("A purchase without a transaction of its store is identified by its product")
  func withoutTransaction() throws {
    let card = #"""
      {"platform":"stripe","purchased_at":"2025-01-01T00:00:00Z","store_data":{"product_id":"pro"}}
      """#
    let listed = purchase("1", until: "2025-02-01")
    let rights = try #require(read([card, listed]).snapshots.first).entitlements
    #expect(rights.map(\.id) == ["pro", "1"])
    #expect(rights[0].transactions.isEmpty)
    #expect(rights[1].transactions.count == 1)
  }

  @Test("Purchases without ids are refused")
  func withoutIDs() {
    let batch = read([#"{"purchased_at":null,"store_data":{}}"#])
    #expect(batch.rejects.map(\.detail) == ["store_data.transaction_id"])
    #expect(read([#"{"purchased_at":null}"#]).rejects.map(\.detail) == ["store_data"])
  }

  @Test("After a replacement, the newer purchase gives the entitlement's end")
  func replaced() throws {
    let year = purchase("1", until: "2026-01-01", renews: false, product: "pro.yearly")
    let month = purchase("2", at: "2025-02-01", until: "2025-03-01")
    for purchases in [[year, month], [month, year]] {
      let right = try #require(read(purchases).snapshots.first?.entitlements.first)
      #expect(right.product == "pro.monthly" && right.renewState == .willRenew)
      #expect(right.startedAt?.text == "2025-01-01T00:00:00Z")
      #expect(right.expiresAt?.text == "2025-03-01T00:00:00Z")
    }
  }

  @Test("Of purchases in the same second, the one that ends later is newer")
  func sameSecond() throws {
    let short = purchase("2", until: "2025-02-01")
    let long = purchase("1", until: "2026-01-01")
    for purchases in [[short, long], [long, short]] {
      let right = try #require(read(purchases).snapshots.first?.entitlements.first)
      #expect(right.expiresAt?.text == "2026-01-01T00:00:00Z")
    }
  }

  @Test("A price of zero, as text or number, is a free period; other prices give no type")
  func free() {
    func kind(_ price: String, until end: String? = "2025-01-08") -> SnapshotTransactionKind? {
      let line = purchase("1", until: end, price: price)
      return read([line]).snapshots.first?.entitlements.first?.transactions.first?.kind
    }
    #expect(kind("\"0.00\"") == .free)
    #expect(kind("0") == .free)
    for price in ["\"9.99\"", "\"0.01\"", "null", "\"\"", "\"free\""] {
      #expect(kind(price) == .unknown)
    }
    #expect(kind("\"0.00\"", until: nil) == .oneTime)
  }

  @Test("A purchase costs what the list says, if that is readable")
  func prices() throws {
    for (sent, price) in [
      ("\"9.99\"", Amount(micros: 9_990_000)), ("\"0.00\"", .zero), ("\"much\"", nil),
      ("null", nil),
    ] {
      let line = purchase("7", of: "7", until: "2025-02-01", price: sent)
      let listed = try #require(read([line]).snapshots.first?.entitlements.first?.transactions)
      #expect(listed.map(\.price) == [price] && listed.map(\.currency) == ["EUR"])
      #expect(listed.map(\.kind) == [price == .zero ? .free : .unknown])
    }
  }
}
