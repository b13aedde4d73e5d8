import Formats
import Domain

/// Reads lists of entitlements in all their shapes.
struct EntitlementReader {
  private var members = Members<EntitlementField>()
  private var product = Members<EntitlementField>()
  private var subscription = Members<EntitlementField>()
  private var transaction = Members<SnapshotTransactionField>()

  /// The entitlements of `list`: an array, or an object keyed by number or entitlement id.
  mutating func entitlements(
    _ list: JSONNode, of tape: JSONTape
  ) throws(BodyProblem) -> [Entitlement] {
    guard tape.kind(list) == .array || tape.kind(list) == .object else {
      throw .bad("entitlements", expected: "a list")
    }
    var found: [Entitlement] = []
    let isObject = tape.kind(list) == .object
    for node in tape.children(of: list) {
      let element = isObject ? tape.value(ofKey: node) : node
      found.append(try entitlement(element, key: isObject ? node : nil, tape))
    }
    return found
  }

  private mutating func entitlement(
    _ element: JSONNode, key: JSONNode?, _ tape: JSONTape
  ) throws(BodyProblem) -> Entitlement {
    guard tape.kind(element) == .object else {
      throw .bad("entitlements", expected: "a list of objects")
    }
    members.read(element, of: tape)
    let id = try id(key: key, tape)
    let source = try tape.term(members.value(.source), "entitlements.source")
    var right = Entitlement(id: id, store: Store(snapshotSource: source))
    right.isActive = try tape.truth(members.value(.isActive), "entitlements.active")
    right.startedAt = try tape.instant(
      members.value(.startedAt), "entitlements.started")
    right.expiresAt = try tape.instant(
      members.value(.expiresAt), "entitlements.expires")
    right.renewsCount = try tape.counter(
      members.value(.renewsCount), "entitlements.renews_count")
    right.autoRenewOffAt = try tape.instant(
      members.value(.autoRenewOffAt), "entitlements.auto_renew_disable_timestamp")
    right.grant = try grant(source: source, tape)
    try readProduct(into: &right, tape)
    try readTransactions(into: &right, tape)
    return right
  }

  private func id(key: JSONNode?, _ tape: JSONTape) throws(BodyProblem) -> String {
    var id = try tape.text(members.value(.id), "entitlements.id")
    if id.isEmpty, let key, !tape.bytes(key).allSatisfy(isDigit) {
      id = try tape.text(key, "entitlements.id")
    }
    guard !id.isEmpty else { throw .missing("entitlements.id") }
    return id
  }

  private func grant(source: String, _ tape: JSONTape) throws(BodyProblem) -> GrantType {
    switch try tape.term(members.value(.grantType), "entitlements.grant_type") {
    case "familysharing": .familySharing
    case "offercode": .offerCode
    case "manual": .manual
    case "purchase": .purchase
    default: source == "manual" ? .manual : .purchase
    }
  }

  /// The product and what is said of its subscription, beside it or nested in it.
  private mutating func readProduct(
    into right: inout Entitlement, _ tape: JSONTape
  ) throws(BodyProblem) {
    right.product = try tape.text(members.value(.productID), "entitlements.product_id")
    var state = members.value(.renewState)
    var period = members.value(.periodType)
    var renewsNever = false
    if let sent = members.value(.product) {
      if tape.kind(sent) == .object {
        product.read(sent, of: tape)
        right.product = try tape.text(
          product.value(.productID), "entitlements.product.product_id")
        if let nested = tape.member(sent, "subscription"), tape.kind(nested) == .object {
          subscription.read(nested, of: tape)
          state = state ?? subscription.value(.renewState)
          period = period ?? subscription.value(.periodType)
        } else {
          // Source: REST v3 has `subscription` for subscription products only.
          renewsNever = true
        }
      } else {
        right.product = try tape.text(sent, "entitlements.product")
      }
    }
    right.renewState = RenewState(term: try tape.term(state, "entitlements.renew_state"))
    if renewsNever, right.renewState == nil { right.renewState = .nonRenewable }
    let term = try tape.term(period, "entitlements.current_period_type")
    right.isTrial = term.isEmpty ? nil : term == "trial"
  }

  private mutating func readTransactions(
    into right: inout Entitlement, _ tape: JSONTape
  ) throws(BodyProblem) {
    guard let list = members.value(.transactions) else { return }
    guard tape.kind(list) == .array else {
      throw .bad("entitlements.transactions", expected: "a list")
    }
    for node in tape.children(of: list) {
      right.transactions.append(try snapshotTransaction(node, tape))
    }
  }

  private mutating func snapshotTransaction(
    _ node: JSONNode, _ tape: JSONTape
  ) throws(BodyProblem) -> SnapshotTransaction {
    transaction.read(node, of: tape)
    let id = try tape.transactionText(transaction.value(.id), "transactions.transaction_id")
    guard !id.isEmpty else { throw .missing("transactions.transaction_id") }
    let original = try tape.transactionText(
      transaction.value(.originalID), "transactions.original_transaction_id")
    var sale = SnapshotTransaction(id: id, originalID: original)
    sale.product = try tape.text(transaction.value(.productID), "transactions.product_id")
    sale.at = try tape.instant(transaction.value(.at), "transactions.transaction_at")
    sale.expiresAt = try tape.instant(
      transaction.value(.expiresAt), "transactions.expires_at")
    sale.revokedAt = try tape.instant(
      transaction.value(.revokedAt), "transactions.revoked_at")
    let kind = try tape.term(transaction.value(.kind), "transactions.type")
    sale.kind = SnapshotTransactionKind(term: kind)
    let offer = try tape.text(transaction.value(.offer), "transactions.offer_code")
    if !offer.isEmpty { sale.kind = sale.kind.atOfferPrice }
    let word = try tape.word(
      transaction.value(.environment), "transactions.environment", max: .max)
    guard let environment = Environment(word: word) else {
      throw .bad("transactions.environment", expected: "production or sandbox")
    }
    sale.environment = environment
    let owner = try tape.term(transaction.value(.ownership), "transactions.ownership_type")
    sale.ownership = owner == "familysharing" ? .familySharing : .owner
    return sale
  }
}
