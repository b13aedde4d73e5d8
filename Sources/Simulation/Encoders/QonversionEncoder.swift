import Domain

/// Writes occurrences as Qonversion sends them: the current generation of the body.
///
/// Source of names and types: Qonversion webhook documentation, as condensed in the notes on
/// providers.
struct QonversionEncoder {
  let customer: CustomerSimulation
  let source: WebhookEntitlements
  private var person: Person { customer.person }
  private var market: Market { person.market }

  /// The JSON body of the `index`th occurrence of the customer.
  func body(of index: Int, created: Int64) -> JSON {
    let occurrence = customer.occurrences[index]
    let noise = Randomness.mix(person.noise &+ UInt64(index))
    return .object(
      identity(occurrence, account: customer.account(at: index), created)
        + money(occurrence, noise)
        + [("transaction", transaction(occurrence)), ("properties", properties)]
        + device(occurrence, noise) + product(occurrence)
        + [
          ("entitlements", entitlements(occurrence, created)),
          ("asa_attribution", person.noise % 11 == 0 ? attribution : nil),
        ])
  }

  private func identity(
    _ occurrence: Occurrence, account: UInt64, _ created: Int64
  ) -> [(String, JSON?)] {
    [
      (
        "event_name",
        .text((occurrence.fault == .renamed ? "my_" : "") + qonversionName(occurrence.kind))
      ),
      ("user_id", .text(person.qonversionUser(account: account))),
      ("custom_user_id", .text(person.noise % 3 > 0 ? person.accountName : "")),
      ("identity_id", .text(person.noise % 5 > 0 ? "acct-\(hexadecimal(person.noise, 12))" : "")),
      ("advertiser_id", .text(person.noise % 7 > 2 ? uuid(person.noise &* 3) : "")),
      ("time", .int(occurrence.time)),
      ("created_at", .int(created)),
      ("product_id", .text(person.app.storeProducts[occurrence.product])),
    ]
  }

  private func uuid(_ seed: UInt64) -> String {
    let (high, low) = (Randomness.mix(seed), Randomness.mix(seed ^ 0xff))
    return [
      hexadecimal(high, 8), hexadecimal(high >> 32, 4), hexadecimal(high >> 48, 4),
      hexadecimal(low >> 48, 4), hexadecimal(low, 12),
    ].joined(separator: "-")
  }

  private func money(_ occurrence: Occurrence, _ noise: UInt64) -> [(String, JSON?)] {
    let absent: JSON? = noise % 3 == 0 ? .null : noise % 3 == 1 ? [:] : nil
    let revenue = occurrence.revenue.map { revenue in
      JSON.object(
        amounts(revenue) + [
          ("is_proceed", .int(occurrence.sendsProceeds ? 1 : 0)),
          (
            "proceeds_rate",
            occurrence.fault == .fractionalRate
              ? .micros(occurrence.rate * 10_000) : .int(occurrence.rate)
          ),
        ])
    }
    let price = occurrence.price
    let unit = Money(
      local: scaled(price.local, 1, occurrence.units), usd: scaled(price.usd, 1, occurrence.units))
    return [("revenue", revenue ?? absent), ("price", .object(amounts(unit)))]
  }

  private func amounts(_ money: Money) -> [(String, JSON?)] {
    [
      ("value", .micros(money.local)), ("value_usd", .micros(money.usd)),
      ("currency", .text(market.currency)),
    ]
  }

  private func transaction(_ occurrence: Occurrence) -> JSON {
    [
      "transaction_id": person.id(occurrence.transaction),
      "original_transaction_id": person.id(occurrence.transaction.original),
      "expires": .number(occurrence.expires),
      "grace_period_expires": .number(occurrence.graceEnd),
      "transaction_date": .int(occurrence.transactionDate),
    ]
  }

  private var properties: JSON {
    [
      "_q_email": .text("person\(person.number)@example.invalid"),
      "_q_user_id": .text(hexadecimal(person.noise, 16)),
      "onboarding_variant": .text(person.noise % 2 == 0 ? "short-story" : "long-story"),
      "paywall": .text("spring-\(person.noise % 17)"),
    ]
  }

  private func device(_ occurrence: Occurrence, _ noise: UInt64) -> [(String, JSON?)] {
    [
      ("device_id", .text(uuid(person.noise))),
      ("app_version", .text("3.\((occurrence.time / (40 * day)) % 30).1")),
      ("sdk_version", .text("5.13.\(person.noise % 4)")),
      ("environment", .text(person.environment.name)),
      ("platform", .text(person.shop.platform)),
      // 198.51.100.0/24 is reserved for documentation (RFC 5737).
      ("ip", .text("198.51.100.\(noise % 256)")),
      ("country", .text(occurrence.isAbroad ? "CH" : market.country)),
      ("storefront", person.hasStorefront ? .text(market.storefront) : nil),
    ]
  }

  private func product(_ occurrence: Occurrence) -> [(String, JSON?)] {
    let names = person.app.storeProducts
    let previous = occurrence.previousProduct
    let first = customer.occurrences.first?.time ?? occurrence.time
    return [
      ("old_product_id", previous.map { .text(names[$0]) }),
      ("new_product_id", previous.map { _ in .text(names[occurrence.product]) }),
      ("locale", .text(market.locale)),
      (
        "subscription_group",
        .text(
          person.shop.store == .appStore
            ? person.app.subscriptionGroup : occurrence.fault == .basePlan ? "base" : "")
      ),
      ("user_install_date", .int(first - Int64(person.noise % 800_000))),
      ("project_name", .text(person.app.project)),
      ("app_id", .text(person.shop.appID)),
      ("quantity", .int(occurrence.units)),
      ("subscription_renew_count", occurrence.renewCount.map { .int($0) }),
    ]
  }

  private func entitlements(_ occurrence: Occurrence, _ created: Int64) -> JSON {
    let access = occurrence.access
    let isListed = access.isActive || !Product.all[access.product].isConsumable
    let listed =
      switch source {
      case .ofEvent: isListed ? [access] : []
      case .current: customer.owned(at: created)
      case .stale: customer.owned(at: occurrence.time)
      }
    return .object(listed.enumerated().map { ("\($0)", entitlement($1, of: person)) })
  }

  private var attribution: JSON {
    [
      "org_id": .int(40_669_820), "campaign_id": .int(542_370_000 + person.noise % 500),
      "adgroup_id": .int(542_317_000 + person.noise % 900), "keyword_id": .int(87_675_432),
      "ad_id": .int(542_317_136), "country_or_region": .text(market.country),
      "conversion_type": .text("Download"), "claim_type": .text("Click"),
    ]
  }
}

/// One entitlement in the names of REST v3, which webhooks share.
func entitlement(_ access: Access, of person: Person) -> JSON {
  [
    "id": .text(entitlementID(of: access.product)),
    "active": .bool(access.isActive),
    "started": .int(access.started),
    "expires": .number(access.until),
    "source": .text(person.shop.entitlementSource),
    "product": product(of: access, person),
  ]
}

/// The product behind an entitlement, as both REST interfaces nest it.
func product(of access: Access, _ person: Person) -> JSON {
  let subscription: JSON = [
    "renew_state": .text(access.state.sentName),
    "current_period_type": .text(access.isTrial ? "trial" : "normal"),
  ]
  return [
    "product_id": .text(person.app.dashboardProducts[access.product]),
    "subscription": access.state == .nonRenewable ? nil : subscription,
  ]
}

/// The access right that a product gives.
func entitlementID(of product: Int) -> String {
  product == Product.lifetime ? "archive" : product == Product.coins ? "coins" : "premium"
}

func qonversionName(_ kind: EventKind) -> String {
  switch kind {
  case .trialStarted: "trial_started"
  case .trialConverted: "trial_converted"
  case .trialCanceled: "trial_canceled"
  case .trialBillingRetry: "trial_billing_retry_entered"
  case .trialExpired: "trial_expired"
  case .started: "subscription_started"
  case .renewed: "subscription_renewed"
  case .upgraded: "subscription_upgraded"
  case .downgraded: "subscription_downgraded"
  case .productChanged: "subscription_product_changed"
  case .canceled: "subscription_canceled"
  case .billingRetry: "subscription_billing_retry_entered"
  case .expired: "subscription_expired"
  case .refunded: "subscription_refunded"
  case .purchased: "in_app_purchase"
  case .purchaseRefunded: "in_app_refunded"
  default: "trial_still_active"
  }
}

extension RenewState {
  /// The name of REST v3 and v4.
  var sentName: String {
    switch self {
    case .nonRenewable: "non_renewable"
    case .unknown: "unknown"
    case .willRenew: "will_renew"
    case .canceled: "canceled"
    case .billingIssue: "billing_issue"
    }
  }
}
