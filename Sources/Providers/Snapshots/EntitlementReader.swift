import Formats
import Domain

struct EntitlementReader {
  private var members = Members<EntitlementField>("entitlements.")
  private var product = Members<EntitlementField>("entitlements.product.")
  private var subscription = Members<EntitlementField>("entitlements.product.subscription.")
  private var transaction = Members<SnapshotTransactionField>("transactions.")

  /// The entitlements of `list`: an array, or an object keyed by number or entitlement id.
  mutating func entitlements(
    _ list: JSONNode, of tape: JSONTape
  ) throws(BodyProblem) -> [Entitlement] {
    guard tape.kind(list) == .array || tape.kind(list) == .object else {
      throw .bad("entitlements", expected: "a list")
    }
    let isObject = tape.kind(list) == .object
    return try tape.children(of: list).map { node throws(BodyProblem) in
      try entitlement(isObject ? tape.value(ofKey: node) : node, key: isObject ? node : nil, tape)
    }
  }

  private mutating func entitlement(
    _ element: JSONNode, key: JSONNode?, _ tape: JSONTape
  ) throws(BodyProblem) -> Entitlement {
    guard tape.kind(element) == .object else {
      throw .bad("entitlements", expected: "a list of objects")
    }
    members.read(element, of: tape)
    let id = try id(key: key, tape)
    let source = try tape.term(members[.source])
    var entitlement = Entitlement(id: id)
    entitlement.store = Store(source) ?? .unknown
    entitlement.isActive = try tape.truth(members[.isActive])
    entitlement.startedAt = try tape.instant(members[.startedAt])
    entitlement.trialStartedAt = try tape.instant(members[.trialStartedAt])
    entitlement.firstPurchasedAt = try tape.instant(members[.firstPurchasedAt])
    entitlement.lastPurchasedAt = try tape.instant(members[.lastPurchasedAt])
    entitlement.hasOfferCode = try !tape.identifier(members[.offerCode]).isEmpty
    entitlement.expiresAt = try tape.instant(members[.expiresAt])
    entitlement.renewsCount = try tape.counter(members[.renewsCount])
    entitlement.autoRenewOffAt = try tape.instant(members[.autoRenewOffAt])
    entitlement.grant = try grant(source: source, tape)
    try readProduct(into: &entitlement, tape)
    try readTransactions(into: &entitlement, tape)
    return entitlement
  }

  private func id(key: JSONNode?, _ tape: JSONTape) throws(BodyProblem) -> String {
    var value = members[.id]
    var id = try tape.text(value)
    if id.isEmpty, let key, !tape.bytes(key).allSatisfy(isDigit) {
      value.node = key
      id = try tape.text(value)
    }
    guard !id.isEmpty else { throw .missing("entitlements.id") }
    return id
  }

  private func grant(source: Term, _ tape: JSONTape) throws(BodyProblem) -> GrantType {
    switch try tape.term(members[.grantType]) {
    case "familysharing": .familySharing
    case "offercode": .offerCode
    case "manual": .manual
    case "purchase": .purchase
    default: source == "manual" ? .manual : .purchase
    }
  }

  /// Reads the product and the state of its subscription, which is next to it or nested in it.
  private mutating func readProduct(
    into entitlement: inout Entitlement, _ tape: JSONTape
  ) throws(BodyProblem) {
    entitlement.product = try tape.text(members[.productID])
    var state = members[.renewState]
    var period = members[.periodType]
    var renewsNever = false
    if let sent = members.value(.product) {
      if tape.kind(sent) == .object {
        product.read(sent, of: tape)
        entitlement.product = try tape.text(product[.productID])
        if let nested = tape.member(sent, "subscription"), tape.kind(nested) == .object {
          subscription.read(nested, of: tape)
          if state.node == nil { state = subscription[.renewState] }
          if period.node == nil { period = subscription[.periodType] }
        } else {
          // Source: REST v3 has `subscription` for subscription products only.
          renewsNever = true
        }
      } else {
        entitlement.product = try tape.text(members[.product])
      }
    }
    entitlement.renewState = RenewState(term: try tape.term(state))
    if renewsNever, entitlement.renewState == nil { entitlement.renewState = .nonRenewable }
    let term = try tape.term(period)
    entitlement.isTrial = term == "" ? nil : term == "trial"
  }

  private mutating func readTransactions(
    into entitlement: inout Entitlement, _ tape: JSONTape
  ) throws(BodyProblem) {
    guard let list = members.value(.transactions) else { return }
    guard tape.kind(list) == .array else {
      throw .bad("entitlements.transactions", expected: "a list")
    }
    entitlement.transactions.reserveCapacity(tape.count(list))
    var sale = SnapshotTransaction(id: "", originalID: "")
    for node in tape.children(of: list) {
      sale = try snapshotTransaction(node, like: sale, tape)
      entitlement.transactions.append(sale)
    }
  }

  private mutating func snapshotTransaction(
    _ node: JSONNode, like last: SnapshotTransaction, _ tape: JSONTape
  ) throws(BodyProblem) -> SnapshotTransaction {
    transaction.read(node, of: tape)
    let id = text(try tape.transactionID(transaction[.id]))
    guard !id.isEmpty else { throw .missing("transactions.transaction_id") }
    let original = tape.text(
      try tape.transactionID(transaction[.originalID]), like: last.originalID)
    var sale = SnapshotTransaction(id: id, originalID: original)
    sale.product = try tape.text(transaction[.productID], like: last.product)
    sale.at = try tape.instant(transaction[.at])
    sale.expiresAt = try tape.instant(transaction[.expiresAt])
    sale.revokedAt = try tape.instant(transaction[.revokedAt])
    let kind = try tape.term(transaction[.kind])
    sale.kind = SnapshotTransactionKind(term: kind)
    if try !tape.identifier(transaction[.offer]).isEmpty { sale.kind = sale.kind.atOfferPrice }
    sale.environment = try tape.environment(transaction[.environment])
    let owner = try tape.term(transaction[.ownership])
    sale.grant = owner == "familysharing" ? .familySharing : .purchase
    return sale
  }
}

// Names from the closed lists of snapshots. Source: the value maps of the Qonversion SDKs (iOS
// QNMapper, Android QPermission).

extension RenewState {
  /// The state for a name or the SDK's number; nil if not sent.
  init?(term: Term) {
    switch term {
    case "": return nil
    case "-1", "nonrenewable": self = .nonRenewable
    case "1", "willrenew": self = .willRenew
    case "2", "canceled", "cancelled": self = .canceled
    case "3", "billingissue": self = .billingIssue
    default: self = .unknown
    }
  }
}

extension SnapshotTransactionKind {
  init(term: Term) {
    switch term {
    case "trialstarted": self = .trialStarted
    case "subscriptionstarted": self = .started
    case "subscriptionrenewed": self = .renewed
    case "introstarted": self = .introStarted
    case "introrenewed": self = .introRenewed
    case "nonconsumablepurchase": self = .oneTime
    default: self = .unknown
    }
  }

  /// The same kind for a transaction at an offer.
  var atOfferPrice: Self {
    switch self {
    case .started: .introStarted
    case .renewed: .introRenewed
    case .unknown, .trialStarted, .introStarted, .introRenewed, .oneTime, .free: self
    }
  }
}
