import Formats
import Domain

/// One validated purchase in an iaptic body, before it is stored.
///
/// Its ids have no platform. Its bytes are in the line.
struct IapticPurchase {
  var product = UnsafeRawBufferPointer.none
  /// Its key in the collection; empty in a list.
  var key = UnsafeRawBufferPointer.none
  /// The id that stays the same across renewals; empty when not sent.
  var purchase = UnsafeRawBufferPointer.none
  /// The latest transaction; bodies of the first years have none.
  var transaction = UnsafeRawBufferPointer.none
  var store = Store.unknown
  var environment = Environment.production
  var expiresAt: Instant?
  var isExpired: Bool?
  /// Why it ends; nil if that is unknown.
  var reason: ChurnReason?
  /// The state as the fold compares it.
  var state = Observation()
  /// The offer at which the period was bought; empty for the full price.
  var offer = UnsafeRawBufferPointer.none
  /// The quantity.
  var units: Int32 = 1
  /// The last charge for the whole quantity, at the store's price; nil if not sent.
  var local: Amount?
  var usd: Amount?
  var currency = UnsafeRawBufferPointer.none
  /// Amounts with more than six decimals.
  var roundedAmounts: Int64 = 0
}

/// The members of one purchase, in webhooks and API responses.
///
/// Sources: the pages above; iaptic-client for `amountMicros`, `amountUSD` and `currency`; the
/// oldest API for times that end in `At`.
private enum IapticPurchaseField: Int, MemberField {
  static let table = MemberTable(Self.self)
  case productID, purchaseID, transactionID, platform, sandbox
  case purchaseDate, lastRenewalDate, expirationDate, isExpired
  case renewalIntent, renewalIntentChangeDate, cancelationReason
  case isBillingRetryPeriod, isTrialPeriod, isPending, isSharedPurchase
  case isIntroPeriod, discountID
  case quantity, currency, amountMicros, amountUSD

  var names: [String] {
    switch self {
    case .purchaseDate: ["purchaseDate", "subscribedAt"]
    case .lastRenewalDate: ["lastRenewalDate", "renewedAt"]
    case .expirationDate: ["expirationDate", "expiresAt"]
    case .cancelationReason: ["cancelationReason", "cancellationReason"]
    default: [camelCase]
    }
  }

  static let unread = [
    "priceConsentStatus", "isAcknowledged", "isConsumed", "entitledUsers", "canRefresh", "raw",
  ]
}

/// Reads purchases in webhooks and API responses.
struct IapticPurchaseReader {
  private var members = Members<IapticPurchaseField>("purchases.")
  /// Unknown keys of the collection read last.
  private(set) var unknownMembers: [JSONNode] = []
  /// Unknown platforms of the collection read last.
  private(set) var unknownPlatforms: [JSONNode] = []
  /// As many as one app can sell in the App Store; bounds memory.
  private static let purchasesMax = 10_000

  /// All purchases of a collection, which is an object keyed by product id or a list.
  mutating func purchases(
    _ collection: JSONNode, of tape: JSONTape
  ) throws(BodyProblem) -> [IapticPurchase] {
    let isObject = tape.kind(collection) == .object
    guard isObject || tape.kind(collection) == .array else {
      throw .bad("purchases", expected: "purchases by product id")
    }
    guard tape.count(collection) <= Self.purchasesMax else {
      throw BodyProblem(.badField, "purchases: more than \(Self.purchasesMax)")
    }
    var found: [IapticPurchase] = []
    (unknownMembers, unknownPlatforms) = ([], [])
    for node in tape.children(of: collection) {
      let element = isObject ? tape.value(ofKey: node) : node
      found.append(try purchase(element, key: isObject ? node : nil, of: tape))
      unknownMembers += members.unknownKeys(of: element, of: tape)
      if let platform = members.value(.platform), tape.count(platform) == 0,
        !tape.bytes(platform).isEmpty, Store(Term(bytes: tape.bytes(platform))) == nil
      {
        unknownPlatforms.append(platform)
      }
    }
    return found
  }

  /// One purchase; `key` is its product if it names none.
  mutating func purchase(
    _ node: JSONNode, key: JSONNode?, of tape: JSONTape
  ) throws(BodyProblem) -> IapticPurchase {
    guard tape.kind(node) == .object else {
      throw .bad("purchases", expected: "purchases by product id")
    }
    members.read(node, of: tape)
    var purchase = IapticPurchase()
    try readIDs(into: &purchase, key: key, tape)
    try readTimes(into: &purchase, tape)
    try readState(into: &purchase, tape)
    try readMoney(into: &purchase, tape)
    return purchase
  }

  private func readIDs(
    into purchase: inout IapticPurchase, key: JSONNode?, _ tape: JSONTape
  ) throws(BodyProblem) {
    var productID = members[.productID]
    productID.node = productID.node ?? key
    let product = IapticID(try tape.identifier(productID))
    guard !product.text.isEmpty else { throw .missing("purchases.productId") }
    let root = IapticID(transaction: try tape.identifier(members[.purchaseID]))
    let transaction = IapticID(transaction: try tape.identifier(members[.transactionID]))
    let platform = try tape.word(members[.platform])
    purchase.product = product.text
    purchase.key = key.map(tape.bytes) ?? .none
    purchase.purchase = baseOrder(root.text)
    purchase.transaction = transaction.text
    purchase.store =
      Store(Term(bytes: platform)) ?? root.store ?? transaction.store ?? product.store ?? .unknown
    if try tape.truth(members[.sandbox]) == true { purchase.environment = .sandbox }
  }

  private func readTimes(
    into purchase: inout IapticPurchase, _ tape: JSONTape
  ) throws(BodyProblem) {
    purchase.state.firstPurchasedAt = try tape.eventTime(members[.purchaseDate])
    purchase.state.lastChargedAt = try tape.eventTime(members[.lastRenewalDate])
    purchase.expiresAt = try tape.eventTime(members[.expirationDate])
    purchase.state.autoRenewChangedAt = try tape.instant(members[.renewalIntentChangeDate])
  }

  private func readState(
    into purchase: inout IapticPurchase, _ tape: JSONTape
  ) throws(BodyProblem) {
    purchase.isExpired = try tape.truth(members[.isExpired])
    var state = purchase.state
    state.isAutoRenewing = iapticRenews(try tape.word(members[.renewalIntent]))
    // A purchase without end and without renewal intent does not renew.
    let isOneTime = purchase.expiresAt == nil && state.isAutoRenewing == nil
    state.productType = isOneTime ? .oneTime : .subscription
    let cancelation = try tape.word(members[.cancelationReason])
    purchase.reason = iapticChurnReason(cancelation)
    state.isReplaced = cancelation.isWord("system.replaced")
    // Without `isExpired`, only a purchase without end certainly gives access.
    state.isOwned = purchase.isExpired.map { !$0 } ?? (isOneTime ? true : nil)
    // The store no longer has a deleted purchase.
    if cancelation.isWord("system.deleted") { state.isOwned = false }
    state.isInBillingRetry = try tape.truth(members[.isBillingRetryPeriod])
    state.isTrial = try tape.truth(members[.isTrialPeriod])
    state.isPending = try tape.truth(members[.isPending]) ?? false
    state.isShared = try tape.truth(members[.isSharedPurchase]) ?? false
    purchase.state = state
    let isOffer = try tape.truth(members[.isIntroPeriod])
    purchase.offer = try tape.identifier(members[.discountID])
    if purchase.offer.isEmpty, isOffer == true { purchase.offer = .introductoryOffer }
  }

  private func readMoney(
    into purchase: inout IapticPurchase, _ tape: JSONTape
  ) throws(BodyProblem) {
    if let units = try? tape.counter(members[.quantity]), units > 1 { purchase.units = units }
    purchase.currency = try tape.word(members[.currency])
    purchase.usd = try tape.dollars(members[.amountUSD], rounded: &purchase.roundedAmounts)
    purchase.local = try tape.amount(
      members[.amountMicros], rounded: &purchase.roundedAmounts, places: 0)
    // US dollars need no rate: they are also in bodies before `amountUSD` and in bodies with null.
    if purchase.usd == nil, purchase.currency.isWord("usd"),
      let local = purchase.local, local.magnitude <= .lineMaxUSD
    {
      purchase.usd = local
    }
    try tape.checkWorth(of: purchase.local, purchase.usd, in: members[.amountMicros])
  }
}
