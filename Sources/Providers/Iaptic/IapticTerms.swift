import Domain

/// An id without the platform that iaptic writes before it: `apple:monthly`, or `ios-monthly` in
/// the oldest API.
struct IapticID {
  /// The store of the platform; nil when the id has none.
  var store: Store?
  var text: UnsafeRawBufferPointer

  /// A transaction's or purchase's id; `0` means none.
  init(transaction sent: UnsafeRawBufferPointer) {
    self.init(sent)
    if text.count == 1, text[0] == UInt8(ascii: "0") { text = .none }
  }

  init(_ sent: UnsafeRawBufferPointer) {
    text = sent
    let platform = sent.prefix { $0 != UInt8(ascii: ":") }
    if platform.endIndex < sent.endIndex,
      let named = Store(Term(bytes: UnsafeRawBufferPointer(rebasing: platform)))
    {
      store = named
      text = UnsafeRawBufferPointer(rebasing: sent[(platform.endIndex + 1)...])
    } else if sent.starts(with: "ios-".utf8) {
      store = .appStore
      text = UnsafeRawBufferPointer(rebasing: sent[4...])
    }
  }
}

/// The reasons of iaptic's notifications and their meaning: `observed` is a message about the
/// current purchases, to which nothing happened.
///
/// Source: the JSON Schema of iaptic_webhook_validator, which cites version 3 of the API.
let iapticReasons = EventNames([
  ("PURCHASED", .event(.started)),
  ("RENEWED", .event(.renewed)),
  ("WILL_LAPSE", .event(.canceled)),
  ("WILL_AUTO_RENEW", .event(.uncanceled)),
  ("ENTERED_GRACE_PERIOD", .event(.graceEntered)),
  ("EXPIRED", .event(.expired)),
  ("REFUNDED", .event(.refunded)),
  ("REVOKED", .event(.revoked)),
  ("EXTENDED", .event(.extended)),
  ("PAUSED", .event(.paused)),
  ("PRICE_CHANGE_CONFIRMED", .event(.other)),
  ("RECEIPT_VALIDATED", .event(.observed)),
  ("RECEIPT_REFRESHED", .event(.observed)),
  ("WEBHOOK_REPEATED", .event(.observed)),
  ("ACKNOWLEDGED", .event(.observed)),
  ("OTHER", .event(.observed)),
  ("TEST", .skipped(.test)),
])

/// Whether a `renewalIntent` is to renew; nil for unknown words.
///
/// Source: iaptic-js, whose types have `Cancel` where the others have `Lapse`.
func iapticRenews(_ intent: UnsafeRawBufferPointer) -> Bool? {
  if intent.isWord("renew") { return true }
  return intent.isWord("lapse") || intent.isWord("cancel") ? false : nil
}

/// Why a subscription ends, by its `cancelationReason`, mostly by the part before the dot; nil if
/// the word does not specify it.
///
/// Source: iaptic-client, `PurchaseCancelationReason`.
func iapticChurnReason(_ word: UnsafeRawBufferPointer) -> ChurnReason? {
  if word.isWord("system.billingerror") { return .involuntary }
  if word.isWord("customer.priceincrease") { return .priceIncrease }
  let family = UnsafeRawBufferPointer(rebasing: word.prefix { $0 != UInt8(ascii: ".") })
  if word.isWord("system.productunavailable") || family.isWord("developer") { return .developer }
  return family.isWord("customer") ? .voluntary : nil
}
