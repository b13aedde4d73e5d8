internal import Domain

extension Event {
  /// The content that the fold and the reports read: lines with equal content are duplicates.
  ///
  /// It excludes created and received time, body and provenance; the delivery of a collection that
  /// contained the event; and the provider's name for it, which its kind implies. It also excludes
  /// the user of a purchase that several users can share, because the store's message does not name
  /// one.
  var material: Event {
    var event = self
    if kind != .other { event.name = 0 }
    if provider.capabilities.sharesPurchases { event.user = 0 }
    event.collection = 0
    event.created = nil
    event.received = nil
    event.body = 0
    event.place = Provenance()
    return event
  }

  /// Returns the material fields as text, the same on every machine and in every order of arrival.
  ///
  /// The user is left out, so that erasing a user does not change which of two versions counts.
  func canonicalContent(words: [String], original: String) -> [UInt8] {
    let fields = materialFields(words: words, original: original).filter { $0.name != "user" }
    return Array(fields.map { "\($0.name)=\($0.value)" }.joined(separator: "\u{1f}").utf8)
  }

  /// Returns the material fields by name, as text; an absent value is empty.
  func materialFields(
    words: [String], original: String
  ) -> [(name: String, value: String)] {
    func word(_ symbol: StringID?) -> String { symbol.map { words[Int($0)] } ?? "" }
    func number(_ value: Int64?) -> String { value.map(String.init) ?? "" }
    func time(_ value: Instant?) -> String { number(value?.milliseconds) }
    func answer(_ value: Bool?) -> String { value.map { "\($0)" } ?? "" }
    let (material, state) = (self.material, observation ?? Observation())
    return [
      ("provider", provider.name), ("app", word(app)), ("environment", environment.name),
      ("store", store.name), ("kind", kind.name),
      ("name", word(material.name)),
      ("user", material.user == 0 ? "" : number(material.user)),
      ("transaction", transaction == 0 ? "" : number(transaction)),
      ("original_transaction_id", original), ("starts_lineage", "\(startsLineage)"),
      ("product", word(product)), ("previous_product", word(previousProduct)),
      ("country", word(country)), ("storefront", word(storefront)),
      ("offer", word(offer)),
      ("period_start", time(periodStart)), ("period_end", time(periodEnd)),
      ("grace_end", time(graceEnd)), ("entitled_until", time(entitledUntil)),
      ("revenue", revenue == nil ? "" : "sent"),
      ("revenue_local", number(revenue?.local?.micros)),
      ("revenue_usd", number(revenue?.usd?.micros)), ("currency", word(revenue?.currency)),
      ("is_proceed", answer(revenue?.isProceed)),
      ("proceeds_rate", number(revenue?.rate?.micros)), ("price", price == nil ? "" : "sent"),
      ("price_local", number(price?.local?.micros)),
      ("price_usd", number(price?.usd?.micros)), ("price_currency", word(price?.currency)),
      ("units", number(Int64(units))),
      ("renewal_count", number(renewalCount.map(Int64.init))),
      ("reason", number(reason.map { Int64($0.rawValue) })),
      ("product_type", state.productType?.name ?? ""), ("is_owned", answer(state.isOwned)),
      ("is_auto_renewing", answer(state.isAutoRenewing)),
      ("auto_renew_changed_at", time(state.autoRenewChangedAt)),
      ("is_in_billing_retry", answer(state.isInBillingRetry)),
      ("is_trial", answer(state.isTrial)), ("is_pending", answer(state.isPending)),
      ("is_replaced", answer(state.isReplaced)), ("is_shared", answer(state.isShared)),
      ("first_purchased_at", time(state.firstPurchasedAt)),
      ("last_charged_at", time(state.lastChargedAt)), ("group", word(state.group)),
      ("is_undated", answer(state.isUndated)),
      ("is_time_inferred", answer(state.isTimeInferred)),
    ]
  }
}
