import Domain

extension Entitlement {
  /// The access that a purchase in this state grants until `end`, with its transaction, if any.
  init(
    id: UnsafeRawBufferPointer, of product: UnsafeRawBufferPointer,
    transaction: UnsafeRawBufferPointer, original root: UnsafeRawBufferPointer,
    _ state: Observation, until end: Instant?, in store: Store, _ environment: Environment,
    price: Amount? = nil, currency: UnsafeRawBufferPointer = .none
  ) {
    self.init(id: text(id))
    self.product = text(product)
    startedAt = state.firstPurchasedAt
    expiresAt = end
    renewState = RenewState(state)
    self.store = store
    grant = state.isShared ? .familySharing : .purchase
    isTrial = state.isTrial
    autoRenewOffAt = state.isAutoRenewing == false ? state.autoRenewChangedAt : nil
    // A response without transaction ids shows the sandbox only through an id of its own.
    let id = transaction.isEmpty && environment == .sandbox ? root : transaction
    guard !id.isEmpty else { return }
    var sale = SnapshotTransaction(id: text(id), originalID: text(root))
    sale.product = self.product
    (sale.price, sale.currency) = (price, text(currency))
    sale.kind =
      isTrial == true ? .trialStarted : state.productType == .oneTime ? .oneTime : .unknown
    sale.at = state.lastChargedAt ?? (id.isEqual(to: root) ? startedAt : nil)
    sale.expiresAt = end
    sale.environment = environment
    sale.grant = grant
    transactions = [sale]
  }
}

extension RenewState {
  /// The state in a provider's flags; nil if unknown.
  init?(_ state: Observation) {
    if state.productType == .oneTime {
      self = .nonRenewable
    } else if state.isInBillingRetry == true {
      self = .billingIssue
    } else {
      guard let renews = state.isAutoRenewing else { return nil }
      self = renews ? .willRenew : .canceled
    }
  }
}
