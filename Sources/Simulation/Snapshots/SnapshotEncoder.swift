import Domain

// Snapshots of Qonversion: the REST interfaces, v3 and v4, what the mobile SDK receives, what it
// hands to the app, and the form of our own that any provider can be brought into.

extension SnapshotShape {
  var isOfSDK: Bool { self == .sdk || self == .sdkObject }

  /// The SDK sees sandbox and family members; the REST interfaces have production keys and do not
  /// show who shares.
  func shows(_ holder: Holder) -> Bool {
    switch self {
    case .sdk, .sdkObject, .canonical: return true
    case .v3, .v4, .purchases:
      let isShared = holder.holdings.contains { $0.origin == .familySharing }
      return holder.person.environment == .production && !isShared
    }
  }

  func line(of holder: Holder, at time: Int64) -> JSON {
    let holdings = holder.holdings
    switch self {
    case .v3:
      return [
        "user_id": .text(holder.user), "captured_at": .int(time),
        "data": .array(holdings.map { v3($0, of: holder.person) }),
      ]
    case .v4: return page("entitlements", holdings.map { v4($0, of: holder.person) }, holder, time)
    case .purchases: return page("purchases", purchases(of: holder), holder, time)
    case .sdk, .sdkObject, .canonical:
      let encoder = TransactionListEncoder(shape: self, person: holder.person)
      let provider = holder.person.shop.provider.name
      return [
        "provider": self == .canonical ? .text(provider) : nil,
        "user_id": .text(holder.user),
        "captured_at": self == .sdk
          ? .int(time * 1000)
          : self == .canonical
            ? .int(time)
            : .date(time),
        "entitlements": .array(holdings.map(encoder.entitlement)),
      ]
    }
  }

  /// A list of v4, with user and time added.
  private func page(_ name: String, _ items: [JSON], _ holder: Holder, _ time: Int64) -> JSON {
    [
      "object": .text("list"), "url": .text("/v4/users/\(holder.user)/\(name)"),
      "user_id": .text(holder.user), "captured_at": .date(time), "data": .array(items),
      "has_more": .bool(false),
    ]
  }

  private func v3(_ holding: Holding, of person: Person) -> JSON {
    guard holding.origin == .manual else { return entitlement(holding.access, of: person) }
    // A grant has no product: five members in all.
    return [
      "id": .text("support"), "active": .bool(true), "started": .int(holding.access.started),
      "expires": .null, "source": .text("manual"),
    ]
  }

  private func v4(_ holding: Holding, of person: Person) -> JSON {
    let access = holding.access
    return [
      "object": .text("user_entitlement"), "id": .text(holding.id),
      "is_active": .bool(access.isActive), "source": .text(holding.source(of: person)),
      "started_at": .date(access.started), "expires_at": .date(access.until),
      "product": holding.origin == .manual ? .null : product(of: access, person),
    ]
  }

  /// Newest first.
  private func purchases(of holder: Holder) -> [JSON] {
    let all = holder.holdings.flatMap(\.transactions) + holder.consumables
    let renews = holder.holdings.first?.access.state == .willRenew
    let newest = renews ? holder.holdings.first?.transactions.last?.number : nil
    let sorted = all.sorted {
      ($0.at, $0.number.base, $0.number.index) > ($1.at, $1.number.base, $1.number.index)
    }
    return sorted.map { purchase($0, isRenewing: $0.number == newest, of: holder) }
  }

  private func purchase(
    _ transaction: HeldTransaction, isRenewing: Bool, of holder: Holder
  ) -> JSON {
    let person = holder.person
    let number = transaction.number
    let product = person.app.storeProducts[transaction.product]
    let hasPlan = person.shop.store == .playStore && transaction.expires != nil
    return [
      "object": .text("purchase"),
      "id": .text(String(person.number * 10_000 + number.base * 1_000 + number.index)),
      "user_id": .text(holder.user),
      "platform": .text(person.shop.store.name),
      "product_id": .text(hasPlan ? "\(product):base" : product),
      "currency": .text(person.market.currency),
      "price": .text(printed(transaction.price)),
      "purchased_at": .date(transaction.at),
      "expires_at": .date(transaction.expires),
      "is_auto_renewing": .bool(isRenewing),
      "store_data": [
        "transaction_id": .text(person.text(number)),
        "original_transaction_id": .text(person.text(number.original)),
        "product_id": .text(product),
      ],
      "created_at": .date(transaction.at),
    ]
  }
}

/// Entitlements with transaction lists, in the names and formats of one shape.
struct TransactionListEncoder {
  let shape: SnapshotShape
  let person: Person

  func entitlement(_ holding: Holding) -> JSON {
    switch shape {
    case .canonical: canonical(holding)
    case .sdkObject: object(holding)
    default: wire(holding)
    }
  }

  private func wire(_ holding: Holding) -> JSON {
    let access = holding.access
    let trial = holding.transactions.first { $0.kind == .trialStarted }
    return [
      "id": .text(holding.id),
      "active": .int(access.isActive ? 1 : 0),
      "renew_state": .int(access.state.rawValue),
      "source": .text(holding.source(of: person)),
      "associated_product": .text(person.app.dashboardProducts[access.product]),
      "current_period_type": .text(access.isTrial ? "trial" : "regular"),
      "started_timestamp": .int(access.started),
      "expiration_timestamp": .number(access.until),
      "trial_start_timestamp": .number(trial?.at),
      "first_purchase_timestamp": .number(holding.transactions.first?.at),
      "last_purchase_timestamp": .number(holding.transactions.last?.at),
      "auto_renew_disable_timestamp": .number(holding.autoRenewOffAt),
      "renews_count": .int(holding.renewals),
      "grant_type": .text(holding.origin.name),
      "store_transactions": transactions(of: holding),
    ]
  }

  private func object(_ holding: Holding) -> JSON {
    let access = holding.access
    return [
      "id": .text(holding.id),
      "isActive": .bool(access.isActive),
      "renewState": .text(camelCase(access.state.sentName)),
      "source": .text(holding.source(of: person)),
      "productId": .text(person.app.dashboardProducts[access.product]),
      "startedDate": .date(access.started),
      "expirationDate": .date(access.until),
      "autoRenewDisableDate": .date(holding.autoRenewOffAt),
      "renewsCount": .int(holding.renewals),
      "grantType": .text(camelCase(holding.origin.name)),
      "transactions": transactions(of: holding),
    ]
  }

  private func canonical(_ holding: Holding) -> JSON {
    let access = holding.access
    let isQonversion = person.shop.provider == .qonversion
    let products = isQonversion ? person.app.dashboardProducts : person.app.storeProducts
    return [
      "id": .text(holding.id),
      "product_id": .text(products[access.product]),
      "active": .bool(access.isActive),
      "expires_at": .date(access.until),
      "renew_state": .text(access.state.sentName),
      "renews_count": .int(holding.renewals),
      "source": .text(holding.source(of: person)),
      "grant_type": .text(holding.origin.name),
      "transactions": transactions(of: holding),
    ]
  }

  private func transactions(of holding: Holding) -> JSON {
    let owner = holding.origin == .familySharing ? holding.origin.name : "owner"
    return .array(holding.transactions.map { transaction($0, owner) })
  }

  private func transaction(_ transaction: HeldTransaction, _ owner: String) -> JSON {
    let isObject = shape == .sdkObject
    let text = { (name: String) in JSON.text(isObject ? camelCase(name) : name) }
    let time = { (time: Int64?) in shape == .sdk ? JSON.number(time) : .date(time) }
    let times =
      isObject
      ? ["transactionDate", "expirationDate", "transactionRevocationDate"]
      : shape == .canonical
        ? ["transaction_at", "expires_at", "revoked_at"]
        : ["transaction_timestamp", "expiration_timestamp", "transaction_revoke_timestamp"]
    return .object([
      (isObject ? "transactionId" : "transaction_id", .text(person.text(transaction.number))),
      (
        isObject ? "originalTransactionId" : "original_transaction_id",
        .text(person.text(transaction.number.original))
      ),
      ("type", text(type(transaction))),
      (times[0], time(transaction.at)),
      (times[1], time(transaction.expires)),
      (times[2], time(transaction.revokedAt)),
      ("environment", .text(person.environment.name)),
      (isObject ? "ownershipType" : "ownership_type", text(owner)),
    ])
  }

  private func type(_ transaction: HeldTransaction) -> String {
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
  private func camelCase(_ name: String) -> String {
    let parts = name.split(separator: "_")
    let rest = parts.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }
    return String(parts.first ?? "") + rest.joined()
  }
}

extension Holding {
  var id: String {
    origin == .manual ? "support" : entitlementID(of: access.product)
  }

  func source(of person: Person) -> String {
    origin == .manual ? "manual" : person.shop.entitlementSource
  }
}
