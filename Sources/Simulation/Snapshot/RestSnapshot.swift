import Domain

// Snapshots in the forms of the REST interfaces, v3 and v4. They know production only, and no
// family members.

/// `GET /v3/users/{id}/entitlements`, with user and time added.
func writeV3(_ holder: Holder, at time: Int64, into line: inout Bytes) {
  line.put("{\"user_id\":")
  line.put(quoted: holder.user)
  line.put(",\"captured_at\":")
  line.put(time)
  line.put(",\"data\":[")
  for (place, holding) in holder.holdings.enumerated() {
    if place > 0 { line.put(",") }
    if holding.origin == .manual {
      // A grant has no product: five members in all.
      line.put("{\"id\":\"support\",\"active\":true,\"started\":")
      line.put(holding.access.started)
      line.put(",\"expires\":null,\"source\":\"manual\"}")
    } else {
      writeEntity(holding.access, of: holder.person, into: &line)
    }
  }
  line.put("]}\n")
}

/// `GET /v4/users/{id}/entitlements`, with user and time added.
func writeV4(_ holder: Holder, at time: Int64, into line: inout Bytes) {
  line.put("{\"object\":\"list\",\"url\":\"/v4/users/")
  line.put(word: holder.user)
  line.put("/entitlements\",\"user_id\":")
  line.put(quoted: holder.user)
  line.put(",\"captured_at\":")
  line.put(date: time)
  line.put(",\"data\":[")
  for (place, holding) in holder.holdings.enumerated() {
    if place > 0 { line.put(",") }
    writeV4(holding, of: holder, into: &line)
  }
  line.put("],\"has_more\":false}\n")
}

private func writeV4(_ holding: Holding, of holder: Holder, into line: inout Bytes) {
  let access = holding.access
  let isGift = holding.origin == .manual
  line.put("{\"object\":\"user_entitlement\",\"id\":")
  line.put(quoted: isGift ? "support" : entitlementID(of: access.product))
  line.put(access.isActive ? ",\"is_active\":true,\"source\":" : ",\"is_active\":false,\"source\":")
  line.put(quoted: isGift ? "manual" : holder.person.entitlementSource)
  line.put(",\"started_at\":")
  line.put(date: access.started)
  line.put(",\"expires_at\":")
  line.put(date: access.until)
  guard !isGift else { return line.put(",\"product\":null}") }
  line.put(",\"product\":{\"product_id\":")
  line.put(quoted: holder.person.app.dashboardProducts[access.product])
  if access.state != .nonRenewable {
    line.put(",\"subscription\":{\"renew_state\":")
    line.put(quoted: access.state.wireName)
    line.put(",\"current_period_type\":")
    line.put(quoted: access.isTrial ? "trial" : "normal")
    line.put("}")
  }
  line.put("}}")
}

/// `GET /v4/users/{id}/purchases`, newest first, with user and time added.
func writePurchases(_ holder: Holder, at time: Int64, into line: inout Bytes) {
  line.put("{\"object\":\"list\",\"url\":\"/v4/users/")
  line.put(word: holder.user)
  line.put("/purchases\",\"user_id\":")
  line.put(quoted: holder.user)
  line.put(",\"captured_at\":")
  line.put(date: time)
  line.put(",\"data\":[")
  let all = holder.holdings.flatMap(\.transactions) + holder.consumables
  let newest = holder.holdings.first.flatMap { $0.transactions.last?.number }
  let renews = holder.holdings.first?.access.state == .willRenew
  let sorted = all.sorted {
    ($0.at, $0.number.base, $0.number.index) > ($1.at, $1.number.base, $1.number.index)
  }
  for (place, transaction) in sorted.enumerated() {
    if place > 0 { line.put(",") }
    let renewing = renews && transaction.number == newest
    writePurchase(transaction, renewing, of: holder, into: &line)
  }
  line.put("],\"has_more\":false}\n")
}

private func writePurchase(
  _ transaction: HeldTransaction, _ isRenewing: Bool, of holder: Holder, into line: inout Bytes
) {
  let person = holder.person
  let product = person.app.storeProducts[transaction.product]
  line.put("{\"object\":\"purchase\",\"id\":\"")
  line.put(
    Int64(person.number * 10_000 + transaction.number.base * 1_000 + transaction.number.index))
  line.put("\",\"user_id\":")
  line.put(quoted: holder.user)
  line.put(",\"platform\":")
  line.put(quoted: person.shop.store.name)
  line.put(",\"product_id\":\"")
  line.put(word: product)
  if person.shop.store == .playStore, transaction.expires != nil { line.put(":base") }
  line.put("\",\"currency\":")
  line.put(quoted: person.market.currency)
  line.put(",\"price\":\"")
  line.put(word: printed(transaction.price))
  line.put("\",\"purchased_at\":")
  line.put(date: transaction.at)
  line.put(",\"expires_at\":")
  line.put(date: transaction.expires)
  line.put(isRenewing ? ",\"is_auto_renewing\":true" : ",\"is_auto_renewing\":false")
  line.put(",\"store_data\":{\"transaction_id\":\"")
  line.put(transaction: transaction.number, of: person)
  line.put("\",\"original_transaction_id\":\"")
  line.put(transaction: transaction.number.original, of: person)
  line.put("\",\"product_id\":")
  line.put(quoted: product)
  line.put("},\"created_at\":")
  line.put(date: transaction.at)
  line.put("}")
}

extension Bytes {
  /// An instant as a JSON string, or null.
  mutating func put(date second: Int64?) {
    guard let second else { return put("null") }
    put(quoted: Instant(seconds: second).text)
  }
}
