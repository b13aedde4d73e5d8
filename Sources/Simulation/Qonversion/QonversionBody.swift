import Domain

/// Writes happenings as Qonversion sends them: the current generation of the body.
///
/// Source of names and types: Qonversion webhook documentation, as condensed in the notes on
/// providers.
struct QonversionBody {
  let life: Life
  private var person: Person { life.person }

  init(_ life: Life) { self.life = life }

  /// Appends the JSON body of the `index`th happening of the life.
  func write(_ index: Int, created: Int64, into bytes: inout Bytes) {
    let happening = life.happenings[index]
    let noise = Randomness.mix(person.noise &+ UInt64(index))
    bytes.put("{\"event_name\":\"")
    bytes.put(qonversionName(happening.kind))
    bytes.put("\",\"user_id\":\"")
    bytes.put(user: person, account: life.account(at: index))
    writeIdentity(into: &bytes)
    bytes.put(",\"time\":")
    bytes.put(happening.time)
    bytes.put(",\"created_at\":")
    bytes.put(created)
    bytes.put(",\"product_id\":")
    bytes.put(quoted: person.app.storeProducts[happening.product])
    writeMoney(happening, noise, into: &bytes)
    writeTransaction(happening, into: &bytes)
    writeProperties(into: &bytes)
    writeDevice(happening, noise, into: &bytes)
    writeProduct(happening, into: &bytes)
    writeEntitlement(happening, into: &bytes)
    if person.noise % 11 == 0 { writeAttribution(into: &bytes) }
    bytes.put("}")
  }

  private func writeIdentity(into bytes: inout Bytes) {
    bytes.put("\",\"custom_user_id\":\"")
    if person.noise % 3 > 0 {
      bytes.put("u-")
      bytes.put(Int64(person.number))
    }
    bytes.put("\",\"identity_id\":\"")
    if person.noise % 5 > 0 {
      bytes.put("acct-")
      bytes.put(hex: person.noise, count: 12)
    }
    bytes.put("\",\"advertiser_id\":\"")
    if person.noise % 7 > 2 { writeUUID(person.noise &* 3, into: &bytes) }
    bytes.put("\"")
  }

  private func writeUUID(_ seed: UInt64, into bytes: inout Bytes) {
    let (high, low) = (Randomness.mix(seed), Randomness.mix(seed ^ 0xff))
    bytes.put(hex: high, count: 8)
    for part in [high >> 32, high >> 48, low >> 48] {
      bytes.put("-")
      bytes.put(hex: part, count: 4)
    }
    bytes.put("-")
    bytes.put(hex: low, count: 12)
  }

  private func writeMoney(_ happening: Happening, _ noise: UInt64, into bytes: inout Bytes) {
    if let revenue = happening.revenue {
      bytes.put(",\"revenue\":{")
      writeAmounts(revenue, into: &bytes)
      bytes.put(happening.sendsProceeds ? ",\"is_proceed\":1" : ",\"is_proceed\":0")
      bytes.put(",\"proceeds_rate\":")
      bytes.put(happening.rate)
      bytes.put("}")
    } else if noise % 3 == 0 {
      bytes.put(",\"revenue\":null")
    } else if noise % 3 == 1 {
      bytes.put(",\"revenue\":{}")
    }
    bytes.put(",\"price\":{")
    writeAmounts(happening.price, into: &bytes)
    bytes.put("}")
  }

  private func writeAmounts(_ money: Money, into bytes: inout Bytes) {
    bytes.put("\"value\":")
    bytes.put(micros: money.local)
    bytes.put(",\"value_usd\":")
    bytes.put(micros: money.usd)
    bytes.put(",\"currency\":")
    bytes.put(quoted: person.market.currency)
  }

  private func writeTransaction(_ happening: Happening, into bytes: inout Bytes) {
    let isText = !person.hasNumericIDs
    bytes.put(
      isText ? ",\"transaction\":{\"transaction_id\":\"" : ",\"transaction\":{\"transaction_id\":")
    bytes.put(transaction: happening.transaction, of: person)
    bytes.put(isText ? "\",\"original_transaction_id\":\"" : ",\"original_transaction_id\":")
    bytes.put(transaction: happening.transaction.original, of: person)
    bytes.put(isText ? "\",\"expires\":" : ",\"expires\":")
    writeTime(happening.expires, into: &bytes)
    bytes.put(",\"grace_period_expires\":")
    writeTime(happening.graceEnd, into: &bytes)
    bytes.put(",\"transaction_date\":")
    bytes.put(happening.transactionDate)
    bytes.put("}")
  }

  private func writeTime(_ time: Int64?, into bytes: inout Bytes) {
    if let time { bytes.put(time) } else { bytes.put("null") }
  }

  private func writeProperties(into bytes: inout Bytes) {
    bytes.put(",\"properties\":{\"_q_email\":\"person")
    bytes.put(Int64(person.number))
    bytes.put("@example.invalid\",\"_q_user_id\":\"")
    bytes.put(hex: person.noise, count: 16)
    bytes.put("\",\"onboarding_variant\":\"")
    bytes.put(person.noise % 2 == 0 ? "short-story" : "long-story")
    bytes.put("\",\"paywall\":\"spring-")
    bytes.put(Int64(person.noise % 17))
    bytes.put("\"}")
  }

  private func writeDevice(_ happening: Happening, _ noise: UInt64, into bytes: inout Bytes) {
    bytes.put(",\"device_id\":\"")
    writeUUID(person.noise, into: &bytes)
    bytes.put("\",\"app_version\":\"3.")
    bytes.put((happening.time / (40 * day)) % 30)
    bytes.put(".1\",\"sdk_version\":\"5.13.")
    bytes.put(Int64(person.noise % 4))
    bytes.put("\",\"environment\":")
    bytes.put(quoted: person.environment.name)
    bytes.put(",\"platform\":")
    bytes.put(quoted: person.platform)
    // 198.51.100.0/24 is set aside for documentation (RFC 5737).
    bytes.put(",\"ip\":\"198.51.100.")
    bytes.put(Int64(noise % 256))
    bytes.put("\",\"country\":")
    bytes.put(quoted: happening.isAbroad ? "CH" : person.market.country)
    if person.hasStorefront {
      bytes.put(",\"storefront\":")
      bytes.put(quoted: person.market.storefront)
    }
  }

  private func writeProduct(_ happening: Happening, into bytes: inout Bytes) {
    if let previous = happening.previousProduct {
      bytes.put(",\"old_product_id\":")
      bytes.put(quoted: person.app.storeProducts[previous])
      bytes.put(",\"new_product_id\":")
      bytes.put(quoted: person.app.storeProducts[happening.product])
    }
    bytes.put(",\"locale\":")
    bytes.put(quoted: person.market.locale)
    bytes.put(",\"subscription_group\":")
    bytes.put(quoted: person.shop.store == .appStore ? person.app.subscriptionGroup : "")
    bytes.put(",\"user_install_date\":")
    bytes.put((life.happenings.first?.time ?? happening.time) - Int64(person.noise % 800_000))
    bytes.put(",\"project_name\":")
    bytes.put(quoted: person.app.project)
    bytes.put(",\"app_id\":")
    bytes.put(quoted: person.shop.appID)
    bytes.put(",\"quantity\":1")
    if let count = happening.renewCount {
      bytes.put(",\"subscription_renew_count\":")
      bytes.put(Int64(count))
    }
  }

  private func writeEntitlement(_ happening: Happening, into bytes: inout Bytes) {
    let access = happening.access
    guard access.isActive || !Product.all[access.product].isConsumable else {
      return bytes.put(",\"entitlements\":{}")
    }
    bytes.put(",\"entitlements\":{\"0\":")
    writeEntity(access, of: person, into: &bytes)
    bytes.put("}")
  }

  private func writeAttribution(into bytes: inout Bytes) {
    bytes.put(",\"asa_attribution\":{\"org_id\":40669820,\"campaign_id\":")
    bytes.put(Int64(542_370_000 + person.noise % 500))
    bytes.put(",\"adgroup_id\":")
    bytes.put(Int64(542_317_000 + person.noise % 900))
    bytes.put(",\"keyword_id\":87675432,\"ad_id\":542317136,\"country_or_region\":")
    bytes.put(quoted: person.market.country)
    bytes.put(",\"conversion_type\":\"Download\",\"claim_type\":\"Click\"}")
  }
}

/// One entitlement in the names of REST v3, which webhooks share.
func writeEntity(_ access: Access, of person: Person, into bytes: inout Bytes) {
  bytes.put("{\"id\":")
  bytes.put(quoted: entitlementID(of: access.product))
  bytes.put(access.isActive ? ",\"active\":true,\"started\":" : ",\"active\":false,\"started\":")
  bytes.put(access.started)
  bytes.put(",\"expires\":")
  if let until = access.until { bytes.put(until) } else { bytes.put("null") }
  bytes.put(",\"source\":")
  bytes.put(quoted: person.entitlementSource)
  bytes.put(",\"product\":{\"product_id\":")
  bytes.put(quoted: person.app.dashboardProducts[access.product])
  if access.state != .nonRenewable {
    bytes.put(",\"subscription\":{\"renew_state\":")
    bytes.put(quoted: access.state.wireName)
    bytes.put(
      access.isTrial
        ? ",\"current_period_type\":\"trial\"}" : ",\"current_period_type\":\"normal\"}")
  }
  bytes.put("}}")
}

/// The access right that a product gives.
func entitlementID(of product: Int) -> String {
  product == Product.lifetime ? "archive" : product == Product.coins ? "coins" : "premium"
}
