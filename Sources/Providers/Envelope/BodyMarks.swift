import Formats
import Domain

/// The members by which bodies of all providers but Qonversion are told apart.
enum BodyMark: Int, MemberField {
  case type, password, purchases, username, notification
  case eventTime, properties
  case transaction, store, data
  case ok, code, error

  var names: [String] {
    switch self {
    case .type: ["type"]
    case .password: ["password"]
    case .purchases: ["purchases"]
    case .username: ["applicationUsername"]
    case .notification: ["notification"]
    case .eventTime: ["eventTimeMillis"]
    case .properties: ["properties"]
    case .transaction: ["transaction"]
    case .store: ["store"]
    case .data: ["data"]
    case .ok: ["ok"]
    case .code: ["code"]
    case .error: ["error"]
    }
  }
}

/// Tells from an object's members whose body it is.
///
/// Sources: the webhook pages of the providers. No two of them share the
/// combinations of members asked for here.
struct BodyMarks {
  private var members = Members<BodyMark>()

  /// Looks at `object`, of which all other calls speak.
  mutating func look(at object: JSONNode, of tape: JSONTape) { members.read(object, of: tape) }

  /// Whose whole body the object is; nil when it is nobody's.
  ///
  /// An archive may leave out iaptic's `password`, which is a secret, so purchases do as well, and
  /// so does a test.
  func provider(_ tape: JSONTape) -> Provider? {
    if has(.type), has(.eventTime), isObject(.properties, tape) { return .purple }
    if has(.type), has(.password) || holdsPurchases(tape) { return .iaptic }
    if has(.transaction), has(.store), isObject(.data, tape) || isObjectText(.data, tape) {
      return .flobuk
    }
    return isBareTest(tape) ? .iaptic : nil
  }

  /// Whether the object is iaptic's test of the address without the secret.
  private func isBareTest(_ tape: JSONTape) -> Bool {
    guard let type = members.value(.type), tape.bytes(type).isWord("test") else { return false }
    return BodyMark.allCases.allSatisfy { $0 == .type || $0 == .password || !has($0) }
  }

  /// Whose body the object must be although something in it is missing.
  func providerOfDamaged(_ tape: JSONTape) -> Provider? {
    if has(.eventTime), has(.type) || isObject(.properties, tape) { return .purple }
    if isObject(.properties, tape), has(.type), describes(.properties, purpleWords, tape) {
      return .purple
    }
    let named = [BodyMark.username, .password, .notification].count { has($0) }
    if holdsPurchases(tape) ? named >= 1 : named >= 2 { return .iaptic }
    let isAddressed = has(.transaction) || has(.store)
    if isAddressed, describes(.data, flobukWords, tape) { return .flobuk }
    return has(.transaction) && has(.store) ? .flobuk : nil
  }

  /// Whether the object is what a provider's interface answers when a request fails.
  ///
  /// Sources: iaptic-client, `{"ok":false,"status","code","message"}`; IAPGUARD, Error codes,
  /// `{"code","error"}`.
  func isErrorResponse(_ tape: JSONTape) -> Bool {
    let isRefused = members.value(.ok).map { tape.kind($0) == .false } ?? false
    return isRefused || has(.code) && has(.error)
  }

  private func has(_ field: BodyMark) -> Bool { members.value(field) != nil }

  private func isObject(_ field: BodyMark, _ tape: JSONTape) -> Bool {
    members.value(field).map { tape.kind($0) == .object } ?? false
  }

  /// Whether a member is text that begins as an object does: some writers keep nested JSON as text.
  private func isObjectText(_ field: BodyMark, _ tape: JSONTape) -> Bool {
    guard let text = members.value(field), tape.kind(text) == .string else { return false }
    return tape.bytes(text).trimmed.first == UInt8(ascii: "{")
  }

  /// Purchases by product; some languages write an empty object as an empty list.
  private func holdsPurchases(_ tape: JSONTape) -> Bool {
    guard let purchases = members.value(.purchases) else { return false }
    return tape.kind(purchases) == .object || tape.kind(purchases) == .array
  }

  private func describes(
    _ field: BodyMark, _ words: [StaticString], _ tape: JSONTape
  ) -> Bool {
    guard let object = members.value(field) else { return false }
    return words.contains { tape.member(object, $0) != nil }
  }
}

/// Members of Purple's `properties` that hardly anybody else's have.
private let purpleWords: [StaticString] = [
  "packageName", "productId", "previousProductId", "originalTransactionId",
]

/// Members of FLOBUK's `data` that hardly anybody else's have.
private let flobukWords: [StaticString] = ["productId", "expiresDate", "autoRenew", "billingRetry"]
