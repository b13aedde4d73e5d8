import Domain

// Snapshots with transaction lists: what the mobile SDK receives, what it hands to the app, and
// the form of our own that any provider can be brought into.

/// The names and formats in which a snapshot with transactions is written.
struct SDKNames {
  let isObject: Bool
  let isCanonical: Bool

  static let wire = SDKNames(isObject: false, isCanonical: false)
  static let object = SDKNames(isObject: true, isCanonical: false)
  static let canonical = SDKNames(isObject: false, isCanonical: true)

  /// Appends the line of one user.
  func write(_ holder: Holder, at time: Int64, into line: inout Bytes) {
    line.put("{")
    if isCanonical {
      line.put("\"provider\":")
      line.put(quoted: holder.person.shop.provider.name)
      line.put(",")
    }
    line.put("\"user_id\":")
    line.put(quoted: holder.user)
    line.put(",\"captured_at\":")
    if isObject { line.put(date: time) } else { line.put(isCanonical ? time : time * 1000) }
    line.put(",\"entitlements\":[")
    for (place, holding) in holder.holdings.enumerated() {
      if place > 0 { line.put(",") }
      if isCanonical {
        writeCanonical(holding, of: holder, into: &line)
      } else if isObject {
        writeObject(holding, of: holder, into: &line)
      } else {
        writeWire(holding, of: holder, into: &line)
      }
    }
    line.put("]}\n")
  }

  private func writeWire(_ holding: Holding, of holder: Holder, into line: inout Bytes) {
    let access = holding.access
    line.put("{\"id\":")
    line.put(quoted: id(holding))
    line.put(access.isActive ? ",\"active\":1,\"renew_state\":" : ",\"active\":0,\"renew_state\":")
    line.put(Int64(access.state.rawValue))
    line.put(",\"source\":")
    line.put(quoted: source(holding, holder))
    line.put(",\"associated_product\":")
    line.put(quoted: holder.person.app.dashboardProducts[access.product])
    line.put(",\"current_period_type\":")
    line.put(quoted: access.isTrial ? "trial" : "regular")
    line.put(",\"started_timestamp\":")
    line.put(access.started)
    line.put(",\"expiration_timestamp\":")
    line.put(time: access.until)
    line.put(",\"trial_start_timestamp\":")
    line.put(time: holding.transactions.first { $0.kind == .trialStarted }?.at)
    line.put(",\"first_purchase_timestamp\":")
    line.put(time: holding.transactions.first?.at)
    line.put(",\"last_purchase_timestamp\":")
    line.put(time: holding.transactions.last?.at)
    line.put(",\"auto_renew_disable_timestamp\":")
    line.put(time: holding.autoRenewOffAt)
    line.put(",\"renews_count\":")
    line.put(Int64(holding.renewals))
    line.put(",\"grant_type\":")
    line.put(quoted: grant(holding))
    line.put(",\"store_transactions\":")
    writeTransactions(holding, of: holder, into: &line)
    line.put("}")
  }

  private func writeObject(_ holding: Holding, of holder: Holder, into line: inout Bytes) {
    let access = holding.access
    line.put("{\"id\":")
    line.put(quoted: id(holding))
    line.put(
      access.isActive ? ",\"isActive\":true,\"renewState\":" : ",\"isActive\":false,\"renewState\":"
    )
    line.put(quoted: camel(access.state.wireName))
    line.put(",\"source\":")
    line.put(quoted: source(holding, holder))
    line.put(",\"productId\":")
    line.put(quoted: holder.person.app.dashboardProducts[access.product])
    line.put(",\"startedDate\":")
    line.put(date: access.started)
    line.put(",\"expirationDate\":")
    line.put(date: access.until)
    line.put(",\"autoRenewDisableDate\":")
    line.put(date: holding.autoRenewOffAt)
    line.put(",\"renewsCount\":")
    line.put(Int64(holding.renewals))
    line.put(",\"grantType\":")
    line.put(quoted: camel(grant(holding)))
    line.put(",\"transactions\":")
    writeTransactions(holding, of: holder, into: &line)
    line.put("}")
  }

  private func writeCanonical(_ holding: Holding, of holder: Holder, into line: inout Bytes) {
    let access = holding.access
    line.put("{\"id\":")
    line.put(quoted: id(holding))
    line.put(",\"product_id\":")
    let app = holder.person.app
    let isQonversion = holder.person.shop.provider == .qonversion
    line.put(
      quoted: (isQonversion ? app.dashboardProducts : app.storeProducts)[access.product])
    line.put(
      access.isActive ? ",\"active\":true,\"expires_at\":" : ",\"active\":false,\"expires_at\":")
    line.put(date: access.until)
    line.put(",\"renew_state\":")
    line.put(quoted: access.state.wireName)
    line.put(",\"renews_count\":")
    line.put(Int64(holding.renewals))
    line.put(",\"source\":")
    line.put(quoted: source(holding, holder))
    line.put(",\"grant_type\":")
    line.put(quoted: grant(holding))
    line.put(",\"transactions\":")
    writeTransactions(holding, of: holder, into: &line)
    line.put("}")
  }

  private func writeTransactions(
    _ holding: Holding, of holder: Holder, into line: inout Bytes
  ) {
    line.put("[")
    for (place, transaction) in holding.transactions.enumerated() {
      if place > 0 { line.put(",") }
      write(transaction, holding.origin == .familySharing, of: holder.person, into: &line)
    }
    line.put("]")
  }

  private func write(
    _ transaction: HeldTransaction, _ isShared: Bool, of person: Person, into line: inout Bytes
  ) {
    line.put(isObject ? "{\"transactionId\":\"" : "{\"transaction_id\":\"")
    line.put(transaction: transaction.number, of: person)
    line.put(isObject ? "\",\"originalTransactionId\":\"" : "\",\"original_transaction_id\":\"")
    line.put(transaction: transaction.number.original, of: person)
    line.put("\",\"type\":")
    line.put(quoted: isObject ? camel(type(transaction, person)) : type(transaction, person))
    let names: (StaticString, StaticString, StaticString) =
      isObject
      ? (",\"transactionDate\":", ",\"expirationDate\":", ",\"transactionRevocationDate\":")
      : isCanonical
        ? (",\"transaction_at\":", ",\"expires_at\":", ",\"revoked_at\":")
        : (
          ",\"transaction_timestamp\":", ",\"expiration_timestamp\":",
          ",\"transaction_revoke_timestamp\":"
        )
    let times = [
      (names.0, transaction.at as Int64?), (names.1, transaction.expires),
      (names.2, transaction.revokedAt),
    ]
    for (name, time) in times {
      line.put(name)
      if isObject || isCanonical { line.put(date: time) } else { line.put(time: time) }
    }
    line.put(",\"environment\":")
    line.put(quoted: person.environment.name)
    line.put(isObject ? ",\"ownershipType\":" : ",\"ownership_type\":")
    let owner = isShared ? "family_sharing" : "owner"
    line.put(quoted: isObject ? camel(owner) : owner)
    line.put("}")
  }

  private func id(_ holding: Holding) -> String {
    holding.origin == .manual ? "support" : entitlementID(of: holding.access.product)
  }

  private func source(_ holding: Holding, _ holder: Holder) -> String {
    holding.origin == .manual ? "manual" : holder.person.entitlementSource
  }

  private func grant(_ holding: Holding) -> String {
    switch holding.origin {
    case .purchase: "purchase"
    case .familySharing: "family_sharing"
    case .manual: "manual"
    }
  }

  private func type(_ transaction: HeldTransaction, _ person: Person) -> String {
    switch transaction.kind {
    case .trialStarted: "trial_started"
    case .renewed: "subscription_renewed"
    case .introRenewed: "intro_renewed"
    // The two SDKs spell it differently.
    case .oneTime:
      person.shop.store == .playStore ? "non_consumable_purchase" : "nonconsumable_purchase"
    default: "subscription_started"
    }
  }

  /// `will_renew` as `willRenew`.
  private func camel(_ word: String) -> String {
    let parts = word.split(separator: "_")
    let rest = parts.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }
    return String(parts.first ?? "") + rest.joined()
  }
}

extension Bytes {
  /// A time in seconds, or null.
  mutating func put(time: Int64?) {
    if let time { put(time) } else { put("null") }
  }
}
