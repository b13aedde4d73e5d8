import Domain

/// The key of a user id; 0 for none.
func userKey(_ id: UnsafeRawBufferPointer) -> Int64 { id.isEmpty ? 0 : Fingerprint.of(id) }

extension UnsafeRawBufferPointer {
  /// The offer of a body that only marks it as introductory.
  static var introductoryOffer: UnsafeRawBufferPointer {
    let id: StaticString = "intro"
    return UnsafeRawBufferPointer(start: id.utf8Start, count: id.utf8CodeUnitCount)
  }
}

/// One validated event of a body, before it is stored.
///
/// Its bytes are in the line: a draft is valid only as long as its tape's value.
struct EventDraft {
  /// All fields except texts.
  var event: Event
  var name = UnsafeRawBufferPointer.none
  var app = UnsafeRawBufferPointer.none
  var user = UnsafeRawBufferPointer.none
  /// The app's own id of the user.
  var customer = UnsafeRawBufferPointer.none
  var product = UnsafeRawBufferPointer.none
  var previousProduct = UnsafeRawBufferPointer.none
  /// Play's base plan of `product`.
  var basePlan = UnsafeRawBufferPointer.none
  /// The offer at which it was bought; empty for the full price.
  var offer = UnsafeRawBufferPointer.none
  /// The group in which a user can hold only one product.
  var group = UnsafeRawBufferPointer.none
  var country = UnsafeRawBufferPointer.none
  var storefront = UnsafeRawBufferPointer.none
  /// The currency of the event's revenue and price.
  var currency = UnsafeRawBufferPointer.none
  /// The currency of its price, if that differs.
  var priceCurrency: UnsafeRawBufferPointer?
  var transaction = UnsafeRawBufferPointer.none
  /// The original transaction id; without it, user and product identify the lineage.
  var original = UnsafeRawBufferPointer.none
  /// Whether it is about all that the user holds, so that only the user identifies its lineage.
  var isOfUser = false
  /// Amounts with more than six decimals.
  var roundedAmounts: Int64 = 0
  /// A part of the identity in addition to the members that all providers have, such as the
  /// fingerprint of a state; 0 for none.
  var mark: Int64 = 0

  /// Whether the event can start a subscription; a state without original id can belong to any
  /// renewal.
  ///
  /// In every store, Qonversion's original id is the id of a transaction.
  var startsLineage: Bool {
    guard event.store.startsWithOriginal || event.provider == .qonversion else { return true }
    if event.kind == .observed, original.isEmpty { return transaction.isEmpty }
    // A transaction is assumed to be its own original when one of the ids is missing.
    return transaction.isEmpty || original.isEmpty || transaction.isEqual(to: original)
  }

  /// Calls `body` with the original transaction id or its substitute.
  func withOriginal<Value>(_ body: (UnsafeRawBufferPointer) -> Value) -> Value {
    if !original.isEmpty { return body(original) }
    let user = userKey(user).userKeyText
    let text = isOfUser ? Array("user:\(user)".utf8) : Array("\(user)|".utf8) + product
    return text.withUnsafeBytes(body)
  }

  /// The fingerprint of the fields that two lines share exactly if they report the same event
  /// (contract §3).
  ///
  /// - Parameters:
  ///   - app: fingerprint of the app id; 0 when unknown.
  ///   - lineage: replaces a missing transaction id.
  func identity(app: Int64, lineage: Int64) -> Int64 {
    var fingerprint = Fingerprint(seed: 2)
    var kinds = UInt64(event.provider.rawValue)
    kinds |= UInt64(event.environment.rawValue) << 8
    kinds |= UInt64(event.store.rawValue) << 16
    kinds |= UInt64(event.kind.rawValue) << 24
    fingerprint.combine(kinds)
    fingerprint.combine(UInt64(bitPattern: app))
    fingerprint.combine(UInt64(bitPattern: event.time.milliseconds))
    fingerprint.combine(transaction)
    if transaction.isEmpty {
      fingerprint.combine(UInt64(bitPattern: lineage))
      fingerprint.combine(user)
      fingerprint.combine(product)
    }
    // Only its own name distinguishes an event of an unknown kind.
    if event.kind == .other { fingerprint.combine(name) }
    if mark != 0 { fingerprint.combine(UInt64(bitPattern: mark)) }
    return fingerprint.value
  }
}

extension EventBatch {
  /// Adds the events of a body, all of one user, whose id is stored once.
  mutating func add(_ drafts: [EventDraft], of user: UnsafeRawBufferPointer) {
    let user = intern(user)
    for draft in drafts { add(draft, user: user) }
  }

  mutating func add(_ draft: EventDraft) { add(draft, user: nil) }

  /// Writes to the batch last: most of its memory is not in the processor's cache, and reads after
  /// such a write wait for it.
  private mutating func add(_ draft: EventDraft, user: TextRange?) {
    var event = draft.event
    let app = draft.app.isEmpty ? 0 : Fingerprint.of(draft.app)
    event.lineage = draft.withOriginal { original in
      lineageKey(
        provider: event.provider, app: app, environment: event.environment, store: event.store,
        original: original)
    }
    event.identity = draft.identity(app: app, lineage: event.lineage)
    event.user = userKey(draft.user)
    event.transaction = transactionKey(draft.transaction)
    event.startsLineage = draft.startsLineage
    event.name = symbols.symbol(draft.name)
    event.app = symbols.symbol(draft.app)
    event.product = symbols.product(draft)
    event.previousProduct = symbols.symbol(draft.previousProduct)
    event.offer = symbols.symbol(draft.offer)
    event.observation?.group = symbols.symbol(draft.group)
    event.country = symbols.code(draft.country)
    event.storefront = symbols.code(draft.storefront)
    event.revenue?.currency = symbols.code(draft.currency)
    event.price?.currency = symbols.code(draft.priceCurrency ?? draft.currency)
    events.append(event)
    var text = EventText()
    text.user = user ?? intern(draft.user)
    text.customer = intern(draft.customer)
    text.transaction = intern(draft.transaction)
    text.original = draft.withOriginal { original in
      original.isEqual(to: draft.transaction) ? text.transaction : intern(original)
    }
    texts.append(text)
    values.append(Int32(truncatingIfNeeded: lines))
  }
}

extension StringTable {
  /// The symbol of an event's product, which is `product:base_plan` where it has a base plan.
  mutating func product(_ draft: EventDraft) -> StringID {
    let colon = UInt8(ascii: ":")
    guard !draft.basePlan.isEmpty, !draft.product.isEmpty, !draft.product.contains(colon),
      ![.purchased, .purchaseRefunded].contains(draft.event.kind)
    else { return symbol(draft.product) }
    return (Array(draft.product) + [colon] + draft.basePlan).withUnsafeBytes { symbol($0) }
  }

  /// The symbol of a country or currency code, which is case-insensitive.
  mutating func code(_ bytes: UnsafeRawBufferPointer) -> StringID {
    guard bytes.contains(where: { $0 >= UInt8(ascii: "a") && $0 <= UInt8(ascii: "z") }) else {
      return symbol(bytes)
    }
    return bytes.map(raised).withUnsafeBytes { symbol($0) }
  }
}

/// Play's order id without the `..0`, `..1` of its renewals; other ids unchanged.
///
/// Source: Android Publisher API, `orderId` of subscription purchases.
func baseOrder(_ id: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
  guard id.starts(with: "GPA.".utf8), let last = id.lastIndex(where: { !isDigit($0) }),
    last + 1 < id.count, id[last] == UInt8(ascii: "."), id[last - 1] == UInt8(ascii: ".")
  else { return id }
  return UnsafeRawBufferPointer(rebasing: id[..<(last - 1)])
}

extension Store {
  /// The store that a provider's word for a store, platform or source names; nil for other words.
  init?(_ word: Term) {
    switch word {
    case "ios", "apple", "appstore", "ios-appstore", "appleappstore": self = .appStore
    case "android", "google", "googleplay", "playstore", "android-playstore": self = .playStore
    case "stripe": self = .stripe
    case "macos", "macappstore": self = .macAppStore
    case "amazon": self = .amazon
    case "windows", "windows-store-transaction": self = .windows
    case "paypal": self = .paypal
    default: return nil
    }
  }

  /// The store whose transaction ids look like `id`: Play's begin with `GPA.`, Apple's are digits.
  init(transactionID id: UnsafeRawBufferPointer) {
    let isNumber = !id.isEmpty && id.allSatisfy(isDigit)
    self = isNumber ? .appStore : id.starts(with: "GPA.".utf8) ? .playStore : .unknown
  }
}
