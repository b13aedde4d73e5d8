import Formats
import Domain

/// What iaptic says of one purchase, checked, before anything of it is kept.
///
/// Ids have lost their platform. Bytes point into the line.
struct IapticPurchase {
  var product = UnsafeRawBufferPointer.none
  /// Under which it stands in the collection; empty in a list.
  var key = UnsafeRawBufferPointer.none
  /// The id that stays the same over renewals; empty when not sent.
  var purchase = UnsafeRawBufferPointer.none
  /// The last transaction; bodies of the first years have none.
  var transaction = UnsafeRawBufferPointer.none
  var store = Store.unknown
  var environment = Environment.production
  var purchasedAt: Instant?
  var renewedAt: Instant?
  var expiresAt: Instant?
  var isExpired: Bool?
  /// Whether auto-renew is on, and since when.
  var renews: Bool?
  var renewsSince: Instant?
  var cancelation = IapticCancelation(.none)
  var isInBillingRetry: Bool?
  var isTrial: Bool?
  var isPending = false
  var isShared = false
  /// The offer at which the period was bought; empty for the full price.
  var offer = UnsafeRawBufferPointer.none
  /// What was charged last, by the store's price; nil when not sent.
  var local: Amount?
  var usd: Amount?
  var currency = UnsafeRawBufferPointer.none
  /// Amounts with more than six decimals.
  var roundedAmounts: Int64 = 0

  /// A purchase that has no end and no intent to renew does not renew.
  var productType: ProductType {
    expiresAt == nil && renews == nil ? .oneTime : .subscription
  }

  /// Whether the user has access; nil when neither `isExpired` nor the absence of an end tells.
  var isOwned: Bool? {
    if cancelation.isDeleted { return false }
    return isExpired.map { !$0 } ?? (productType == .oneTime ? true : nil)
  }

  /// The state as the fold compares it.
  var observation: Observation {
    var state = Observation()
    state.productType = productType
    state.isOwned = isOwned
    state.isAutoRenewing = renews
    state.autoRenewChangedAt = renewsSince
    state.isInBillingRetry = isInBillingRetry
    state.isTrial = isTrial
    state.isPending = isPending
    state.isReplaced = cancelation.isReplaced
    state.isShared = isShared
    state.firstPurchasedAt = purchasedAt
    state.lastChargedAt = renewedAt
    return state
  }
}

/// Reads purchases, in webhooks and in answers of the interface.
struct IapticPurchaseReader {
  private var members = Members<IapticPurchaseField>()
  private let wordBytesMax: Int
  /// As many as one app can sell in the App Store; each takes memory of its own.
  private static let purchasesMax = 10_000

  init(wordBytesMax: Int) { self.wordBytesMax = wordBytesMax }

  /// All purchases of a collection, which is an object keyed by product id, or a list.
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
    for node in tape.children(of: collection) {
      found.append(
        try purchase(
          isObject ? tape.value(ofKey: node) : node, key: isObject ? node : nil, of: tape))
    }
    return found
  }

  /// One purchase; `key` names its product when it does not.
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
    let product = IapticID(try id(members.value(.productID) ?? key, "purchases.productId", tape))
    guard !product.text.isEmpty else { throw .missing("purchases.productId") }
    let root = IapticID(
      transaction: try id(members.value(.purchaseID), "purchases.purchaseId", tape))
    let transaction = IapticID(
      transaction: try id(members.value(.transactionID), "purchases.transactionId", tape))
    let platform = try word(.platform, "purchases.platform", tape)
    purchase.product = product.text
    purchase.key = key.map(tape.bytes) ?? .none
    purchase.purchase = baseOrder(root.text)
    purchase.transaction = transaction.text
    purchase.store =
      Store(iapticPlatform: platform) ?? root.store ?? transaction.store ?? product.store
      ?? .unknown
    if try truth(.sandbox, "purchases.sandbox", tape) == true { purchase.environment = .sandbox }
  }

  private func readTimes(
    into purchase: inout IapticPurchase, _ tape: JSONTape
  ) throws(BodyProblem) {
    purchase.purchasedAt = try time(.purchaseDate, "purchases.purchaseDate", tape)
    purchase.renewedAt = try time(.lastRenewalDate, "purchases.lastRenewalDate", tape)
    purchase.expiresAt = try time(.expirationDate, "purchases.expirationDate", tape)
    purchase.renewsSince = try time(
      .renewalIntentChangeDate, "purchases.renewalIntentChangeDate", tape)
  }

  private func readState(
    into purchase: inout IapticPurchase, _ tape: JSONTape
  ) throws(BodyProblem) {
    purchase.isExpired = try truth(.isExpired, "purchases.isExpired", tape)
    let intent = try word(.renewalIntent, "purchases.renewalIntent", tape)
    purchase.renews = iapticRenews(intent)
    purchase.cancelation = IapticCancelation(
      try word(.cancelationReason, "purchases.cancelationReason", tape))
    purchase.isInBillingRetry = try truth(
      .isBillingRetryPeriod, "purchases.isBillingRetryPeriod", tape)
    purchase.isTrial = try truth(.isTrialPeriod, "purchases.isTrialPeriod", tape)
    purchase.isPending = try truth(.isPending, "purchases.isPending", tape) ?? false
    purchase.isShared = try truth(.isSharedPurchase, "purchases.isSharedPurchase", tape) ?? false
    let isOffer = try truth(.isIntroPeriod, "purchases.isIntroPeriod", tape)
    purchase.offer = try id(members.value(.discountID), "purchases.discountId", tape)
    if purchase.offer.isEmpty, isOffer == true { purchase.offer = .introductoryOffer }
  }

  private func readMoney(
    into purchase: inout IapticPurchase, _ tape: JSONTape
  ) throws(BodyProblem) {
    purchase.currency = try word(.currency, "purchases.currency", tape)
    purchase.usd = try tape.dollars(
      members.value(.amountUSD), "purchases.amountUSD", rounded: &purchase.roundedAmounts)
    purchase.local = try tape.micros(
      members.value(.amountMicros), "purchases.amountMicros",
      rounded: &purchase.roundedAmounts)
    // Dollars need no rate: bodies of before `amountUSD`, and those with null, tell them, too.
    if purchase.usd == nil, purchase.currency.isWord("usd"),
      let local = purchase.local, local.magnitude <= .lineMaxUSD
    {
      purchase.usd = local
    }
  }

  private func id(
    _ node: JSONNode?, _ field: StaticString, _ tape: JSONTape
  ) throws(BodyProblem) -> UnsafeRawBufferPointer {
    try tape.identifier(node, field, max: wordBytesMax)
  }

  private func word(
    _ field: IapticPurchaseField, _ name: StaticString, _ tape: JSONTape
  ) throws(BodyProblem) -> UnsafeRawBufferPointer {
    try tape.word(members.value(field), name, max: wordBytesMax)
  }

  private func time(
    _ field: IapticPurchaseField, _ name: StaticString, _ tape: JSONTape
  ) throws(BodyProblem) -> Instant? {
    try tape.instant(members.value(field), name)
  }

  private func truth(
    _ field: IapticPurchaseField, _ name: StaticString, _ tape: JSONTape
  ) throws(BodyProblem) -> Bool? {
    try tape.truth(members.value(field), name)
  }
}
