import Domain

extension Sender {
  static let qonversion = Sender(
    attempts: [0, 60, 360, 14_400, 28_800, 86_400], isDetailed: true,
    app: { $0.app.id(in: $0.store) },
    headers: { _ in ["accept": "application/json", "authorization": "Basic \(secret)"] },
    coverage: { _, _ in (.exact, "kinds and periods and money are sent") },
    seen: { $1.withFaults($0) }, body: { $0.qonversionBody(created: $1, $2.entitlements) },
    nameOfOther: { _ in "trial_still_active" }, name: { qonversionName($0.occurrence.kind) },
    user: \.qonversionUser, evidence: \.ofQonversion)
}

// Qonversion's bodies, in the current generation.
//
// Source of names and types: Qonversion webhook documentation, as summarized in the notes on
// providers.

extension SentEvent {
  private var market: Market { person.market }
  var qonversionUser: String { person.qonversionUser(account: customer.account(at: index)) }

  func qonversionBody(created: Int64, _ source: WebhookEntitlements) -> JSON {
    identity(created) + money + ["transaction": transaction, "properties": properties] + device
      + product + [
        "entitlements": entitlements(created, source),
        "asa_attribution": person.noise % 11 == 0 ? attribution : nil,
      ]
  }

  private func identity(_ created: Int64) -> JSON {
    [
      "event_name": (occurrence.fault == .renamed ? "my_" : "") + qonversionName(occurrence.kind),
      "user_id": qonversionUser,
      "custom_user_id": person.noise % 3 > 0 ? person.accountName : "",
      "identity_id": person.noise % 5 > 0 ? "acct-\(hexadecimal(person.noise, 12))" : "",
      "advertiser_id": person.noise % 7 > 2 ? uuid(person.noise &* 3) : "",
      "time": occurrence.time, "created_at": created,
      "product_id": person.app.storeID(of: occurrence.product),
    ]
  }

  private func uuid(_ seed: UInt64) -> String {
    let (high, low) = (Randomness.mix(seed), Randomness.mix(seed ^ 0xff))
    return [
      hexadecimal(high, 8), hexadecimal(high >> 32, 4), hexadecimal(high >> 48, 4),
      hexadecimal(low >> 48, 4), hexadecimal(low, 12),
    ].joined(separator: "-")
  }

  private var money: JSON {
    let absent: JSON? = noise % 3 == 0 ? .null : noise % 3 == 1 ? [:] : nil
    let unit: Int64 = occurrence.fault == .fractionalRate ? 10_000 : 1_000_000
    let revenue = occurrence.revenue.map { revenue in
      amounts(revenue) + [
        "is_proceed": occurrence.charge.sendsProceeds ? 1 : 0,
        "proceeds_rate": JSON.micros(occurrence.charge.rate * unit),
      ]
    }
    let price = occurrence.charge.gross.scaled(1, occurrence.units)
    return ["revenue": revenue ?? absent, "price": amounts(price)]
  }

  private func amounts(_ money: Money) -> JSON {
    [
      "value": JSON.micros(money.local), "value_usd": JSON.micros(money.usd),
      "currency": market.currency,
    ]
  }

  private var transaction: JSON {
    [
      "transaction_id": person.id(occurrence.transaction),
      "original_transaction_id": person.id(occurrence.transaction.original),
      "expires": occurrence.expires.orNull,
      "grace_period_expires": occurrence.graceEnd.orNull,
      "transaction_date": occurrence.transactionDate,
    ]
  }

  private var properties: JSON {
    [
      "_q_email": "person\(person.number)@example.invalid",
      "_q_user_id": person.noise.hexadecimal,
      "onboarding_variant": person.noise % 2 == 0 ? "short-story" : "long-story",
      "paywall": "spring-\(person.noise % 17)",
    ]
  }

  private var device: JSON {
    [
      "device_id": uuid(person.noise),
      "app_version": "3.\((occurrence.time / (40 * day)) % 30).1",
      "sdk_version": "5.13.\(person.noise % 4)",
      "environment": person.environment.name,
      "platform": ["iOS", "Android", "Stripe"][person.shop.storeIndex],
      // 198.51.100.0/24 is reserved for documentation (RFC 5737).
      "ip": "198.51.100.\(noise % 256)",
      "country": occurrence.isAbroad ? "CH" : market.country,
      "storefront": person.hasStorefront ? market.storefront : nil,
    ]
  }

  private var product: JSON {
    let product = person.app.storeID(of: occurrence.product)
    let plan = occurrence.fault == .basePlan ? "base" : ""
    let first = customer.occurrences.first?.time ?? occurrence.time
    return [
      "old_product_id": occurrence.previousProduct.map(person.app.storeID),
      "new_product_id": occurrence.previousProduct.map { _ in product },
      "locale": market.locale,
      "subscription_group": person.shop.store == .appStore ? person.app.subscriptionGroup : plan,
      "user_install_date": first - Int64(person.noise % 800_000),
      "project_name": person.app.project, "app_id": person.shop.appID,
      "quantity": occurrence.units, "subscription_renew_count": occurrence.renewCount,
    ]
  }

  private func entitlements(_ created: Int64, _ source: WebhookEntitlements) -> JSON {
    let access = occurrence.access
    let isListed = access.isActive || !access.product.isConsumable
    let listed =
      switch source {
      case .ofEvent: isListed ? [access] : []
      case .current: customer.owned(at: created)
      case .stale: customer.owned(at: occurrence.time)
      }
    return JSON(listed.enumerated().map { ("\($0)", entitlement($1, of: person)) })
  }

  private var attribution: JSON {
    [
      "org_id": 40_669_820, "campaign_id": 542_370_000 + person.noise % 500,
      "adgroup_id": 542_317_000 + person.noise % 900, "keyword_id": 87_675_432,
      "ad_id": 542_317_136, "country_or_region": market.country, "conversion_type": "Download",
      "claim_type": "Click",
    ]
  }
}

/// One entitlement with the names of REST v3, which webhooks share.
func entitlement(_ access: Access, of person: Person) -> JSON {
  [
    "id": entitlementID(of: access.product), "active": access.isActive,
    "started": access.started, "expires": access.until.orNull,
    "source": person.shop.entitlementSource, "product": product(of: access, person),
  ]
}

/// The product of an entitlement, as both REST APIs nest it.
func product(of access: Access, _ person: Person) -> JSON {
  let subscription: JSON = [
    "renew_state": access.state.sentName,
    "current_period_type": access.isTrial ? "trial" : "normal",
  ]
  return [
    "product_id": person.app.dashboardID(of: access.product),
    "subscription": access.state == .nonRenewable ? nil : subscription,
  ]
}

func entitlementID(of product: Product) -> String {
  product == .lifetime ? "archive" : product == .coins ? "coins" : "premium"
}

private func qonversionName(_ kind: EventKind) -> String {
  switch kind {
  case .other: "trial_still_active"
  case .trialStarted, .trialConverted, .trialCanceled, .trialExpired: kind.name
  case .trialBillingRetry: "trial_billing_retry_entered"
  case .billingRetry: "subscription_billing_retry_entered"
  case .purchased: "in_app_purchase"
  case .purchaseRefunded: "in_app_refunded"
  default: "subscription_\(kind.name)"
  }
}

extension RenewState {
  /// The name in REST v3 and v4.
  var sentName: String { "\(self)".inSnakeCase }
}

// Evidence of a lost event in the rest of Qonversion's data.

extension Evidence {
  var ofQonversion: [String] {
    let jump = hasJumped ? ["counter"] : []
    // Production snapshots contain no sandbox purchases.
    guard customer.person.environment == .production else { return jump }
    return shapes.map(\.rawValue) + jump
  }

  private var shapes: [SnapshotShape] {
    let sdks: [SnapshotShape] = [.sdk, .sdkObject, .canonical]
    let states: [SnapshotShape] = [.v3, .v4] + sdks
    switch occurrence.kind {
    case .trialStarted, .trialConverted, .started, .renewed, .upgraded:
      let isCurrent = !laterArrived(\.isSubscriptionCharge)
      let shapes = [.purchases] + sdks
      return isCurrent && isActiveAtEnd ? [.v3, .v4] + shapes : shapes
    case .purchased:
      return occurrence.product.isConsumable ? [.purchases] : [.purchases] + sdks
    case .refunded: return isWholeRefund ? sdks : []
    case .canceled, .trialCanceled:
      return isStateAtEnd(.canceled) && !hasEnd && !isWholeRefund ? states : []
    case .billingRetry, .trialBillingRetry: return isStateAtEnd(.billingIssue) ? states : []
    case .expired, .trialExpired: return isOfLastPart ? states : []
    default: return []
    }
  }

  /// Whether a later renewal's number skips a lost renewal; that needs an earlier number.
  private var hasJumped: Bool {
    occurrence.kind == .renewed && laterArrived { $0.kind == .renewed }
      && arrived { other in
        let isCounted =
          other.kind == .renewed || other.kind == .trialConverted
          || other.transaction == other.transaction.original
        return other.isSubscriptionCharge && isCounted && other.time < occurrence.time
      }
  }

  private func laterArrived(_ matches: (Occurrence) -> Bool) -> Bool {
    arrived { $0.time > occurrence.time && matches($0) }
  }

  /// Whether another event of the same subscription that `matches` arrived.
  private func arrived(_ matches: (Occurrence) -> Bool) -> Bool {
    zip(customer.occurrences, outcomes).contains { other, outcome in
      outcome != .lost && other.transaction.base == occurrence.transaction.base && matches(other)
    }
  }
}
