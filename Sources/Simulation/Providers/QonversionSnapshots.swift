import Domain

// Qonversion's snapshots: the REST APIs v3 and v4, the mobile SDK's response, what the SDK passes
// to the app, and subledger's format for any provider.

extension SnapshotShape {
  /// The SDK returns sandbox purchases and family members; the REST APIs use production keys and do
  /// not show sharing.
  func shows(_ holder: Holder) -> Bool {
    switch self {
    case .sdk, .sdkObject, .canonical: return true
    case .v3, .v4, .purchases:
      let isShared = holder.holdings.contains { $0.origin == .familySharing }
      return holder.person.environment == .production && !isShared
    }
  }
}

/// The purchases of a user, in the names and formats of one shape.
struct SnapshotLine {
  let shape: SnapshotShape
  let holder: Holder
  let time: Int64
  private var person: Person { holder.person }

  var json: JSON {
    switch shape {
    case .v3: ["user_id": holder.user, "captured_at": time, "data": holder.holdings.map(v3)]
    case .v4: page("entitlements", holder.holdings.map(v4))
    case .purchases: page("purchases", purchases)
    case .sdk:
      [
        "user_id": holder.user, "captured_at": time * 1000,
        "entitlements": holder.holdings.map(wire),
      ]
    case .sdkObject:
      [
        "user_id": holder.user, "captured_at": JSON.date(time),
        "entitlements": holder.holdings.map(object),
      ]
    case .canonical:
      [
        "provider": person.shop.provider.name, "user_id": holder.user, "captured_at": time,
        "entitlements": holder.holdings.map(canonical),
      ]
    }
  }

  /// A list of v4, with user and time added.
  private func page(_ name: String, _ items: [JSON]) -> JSON {
    [
      "object": "list", "url": "/v4/users/\(holder.user)/\(name)", "user_id": holder.user,
      "captured_at": JSON.date(time), "data": items, "has_more": false,
    ]
  }

  private func v3(_ holding: Holding) -> JSON {
    guard holding.origin == .manual else { return entitlement(holding.access, of: person) }
    // A grant has no product: it has five members in all.
    return [
      "id": "support", "active": true, "started": holding.access.started, "expires": JSON.null,
      "source": "manual",
    ]
  }

  private func v4(_ holding: Holding) -> JSON {
    let access = holding.access
    return [
      "object": "user_entitlement", "id": holding.id, "is_active": access.isActive,
      "source": holding.source(of: person), "started_at": JSON.date(access.started),
      "expires_at": JSON.date(access.until),
      "product": holding.origin == .manual ? .null : product(of: access, person),
    ]
  }

  /// Newest first.
  private var purchases: [JSON] {
    let all = holder.holdings.flatMap(\.transactions) + holder.consumables
    let sorted = all.sorted {
      let (left, right) = ($0.charge.transaction, $1.charge.transaction)
      return ($0.at, left.base, left.index) > ($1.at, right.base, right.index)
    }
    return sorted.map(purchase)
  }

  private func purchase(_ transaction: HeldTransaction) -> JSON {
    let number = transaction.charge.transaction
    let product = person.app.storeID(of: transaction.charge.product)
    let hasPlan = person.shop.store == .playStore && transaction.expires != nil
    let newest = holder.holdings.first
    return [
      "object": "purchase",
      "id": "\(person.number * 10_000 + number.base * 1_000 + number.index)",
      "user_id": holder.user, "platform": person.shop.store.name,
      "product_id": hasPlan ? "\(product):base" : product, "currency": person.market.currency,
      "price": printed(transaction.charge.gross.local), "purchased_at": JSON.date(transaction.at),
      "expires_at": JSON.date(transaction.expires),
      "is_auto_renewing": newest?.access.state == .willRenew
        && newest?.transactions.last?.charge.transaction == number,
      "store_data": [
        "transaction_id": person.text(number),
        "original_transaction_id": person.text(number.original), "product_id": product,
      ] as JSON,
      "created_at": JSON.date(transaction.at),
    ]
  }

  private func wire(_ holding: Holding) -> JSON {
    let access = holding.access
    let trial = holding.transactions.first { $0.kind == .trialStarted }
    return [
      "id": holding.id, "active": access.isActive ? 1 : 0,
      "renew_state": Int(access.state.rawValue),
      "source": holding.source(of: person),
      "associated_product": person.app.dashboardID(of: access.product),
      "current_period_type": access.isTrial ? "trial" : "regular",
      "started_timestamp": access.started, "expiration_timestamp": access.until.orNull,
      "trial_start_timestamp": (trial?.at).orNull,
      "first_purchase_timestamp": (holding.transactions.first?.at).orNull,
      "last_purchase_timestamp": (holding.transactions.last?.at).orNull,
      "auto_renew_disable_timestamp": holding.autoRenewOffAt.orNull,
      "renews_count": holding.renewals, "grant_type": holding.origin.name,
      "store_transactions": holding.transactions.map { transaction($0, of: holding) },
    ]
  }

  private func object(_ holding: Holding) -> JSON {
    let access = holding.access
    return [
      "id": holding.id, "isActive": access.isActive, "renewState": "\(access.state)",
      "source": holding.source(of: person),
      "productId": person.app.dashboardID(of: access.product),
      "startedDate": JSON.date(access.started), "expirationDate": JSON.date(access.until),
      "autoRenewDisableDate": JSON.date(holding.autoRenewOffAt), "renewsCount": holding.renewals,
      "grantType": "\(holding.origin)",
      "transactions": holding.transactions.map { transaction($0, of: holding) },
    ]
  }

  private func canonical(_ holding: Holding) -> JSON {
    let access = holding.access
    let isDetailed = person.shop.sender.isDetailed
    let id = isDetailed ? person.app.dashboardID : person.app.storeID
    return [
      "id": holding.id, "product_id": id(access.product), "active": access.isActive,
      "expires_at": JSON.date(access.until), "renew_state": access.state.sentName,
      "renews_count": holding.renewals, "source": holding.source(of: person),
      "grant_type": holding.origin.name,
      "transactions": holding.transactions.map { transaction($0, of: holding) },
    ]
  }

  private func transaction(_ transaction: HeldTransaction, of holding: Holding) -> JSON {
    let owner = holding.origin == .familySharing ? holding.origin.name : "owner"
    let isObject = shape == .sdkObject
    let number = transaction.charge.transaction
    let text = { (name: String) in isObject ? camelCase(name) : name }
    let time = { (time: Int64?) in shape == .sdk ? time.orNull : .date(time) }
    let times =
      isObject
      ? ["transactionDate", "expirationDate", "transactionRevocationDate"]
      : shape == .canonical
        ? ["transaction_at", "expires_at", "revoked_at"]
        : ["transaction_timestamp", "expiration_timestamp", "transaction_revoke_timestamp"]
    return [
      text("transaction_id"): person.text(number),
      text("original_transaction_id"): person.text(number.original),
      "type": text(type(transaction)), times[0]: time(transaction.at),
      times[1]: time(transaction.expires), times[2]: time(transaction.charge.wholeRefundAt),
      "environment": person.environment.name, text("ownership_type"): text(owner),
    ]
  }

  private func type(_ transaction: HeldTransaction) -> String {
    switch transaction.kind {
    case .trialStarted, .introRenewed: "\(transaction.kind)".inSnakeCase
    case .renewed: "subscription_renewed"
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
  var id: String { origin == .manual ? "support" : entitlementID(of: access.product) }

  func source(of person: Person) -> String {
    origin == .manual ? "manual" : person.shop.entitlementSource
  }
}
