public import Subscriptions
public import Domain

/// One lineage of a user, with the texts of its symbols.
public final class LineageInput {
  /// The folded events before the earlier of as-of and the snapshot's `captured_at`.
  ///
  /// A snapshot older than an event proves nothing about it, so the snapshot is compared with
  /// events before its capture time.
  public let state: LineageState
  /// The folded events before as-of; nil when `state` is the same.
  public let current: LineageState?
  /// Everything known at as-of: `current`, else `state`.
  public var latest: LineageState { current ?? state }
  /// Original transaction id.
  public let original: String
  /// `transactionKey` of the original transaction id.
  let originalKey: Int64
  /// Original transaction ids of its parts by their first events, if it has several.
  let parts: [String]
  /// Key of the user of the lineage's latest event (`userKeyText`), empty when unknown.
  public let user: String
  /// App id, empty when unknown.
  public let app: String
  let name: LineageName
  /// The strings of the symbols in the states.
  private let words: [String]
  /// Transaction ids by the keys in the states; keys that are plain numbers may be left out.
  private let transactions: [Int64: String]
  /// Whether another user's snapshot lists this lineage: its account was transferred.
  public var isHeldByAnotherUser = false

  /// The lineage that began with the transaction `original`.
  public init(
    state: LineageState, current: LineageState? = nil, original: String, parts: [String] = [],
    user: String = "", app: String = "", words: [String] = [], transactions: [Int64: String] = [:]
  ) {
    self.state = state
    self.current = current
    self.original = original
    originalKey = transactionKey(original)
    self.parts = parts
    self.user = user
    self.app = app
    name = LineageName(app: app, store: state.store, original: original)
    self.words = words
    self.transactions = transactions
  }

  var product: String { text(state.product) }

  /// Whether its store keeps the original id when it is bought again.
  var sharesOriginal: Bool { state.store.isApple }

  /// The original id of a charge missing at `instant`: that of the part which it belongs to or, if
  /// it is a start, begins.
  func original(of code: BreakCode, at instant: Instant?) -> String {
    guard !sharesOriginal, let instant, parts.count == latest.mergedSince.count else {
      return original
    }
    let begins = zip(latest.mergedSince, parts)
    let next = code == .missedStart ? begins.first { $0.0 >= instant } : nil
    return (next ?? begins.reversed().first { $0.0 <= instant })?.1 ?? original
  }

  func text(_ symbol: StringID) -> String {
    words.indices.contains(Int(symbol)) ? words[Int(symbol)] : ""
  }

  /// The id of a transaction key; a plain number is its own key.
  func transactionText(_ key: Int64) -> String {
    if let text = transactions[key] { return text }
    return key > 0 && key < 1_000_000_000_000_000_000 ? String(key) : ""
  }
}

/// Identifies a production lineage among all others of a user and provider: an id is unique only
/// within its store, and is compared byte by byte.
///
/// A fingerprint, because a user can have hundreds of thousands.
struct LineageName: Hashable {
  private let fingerprint: Int64

  init(app: String, store: Store, original: String) {
    var fingerprint = Fingerprint(seed: UInt64(store.rawValue))
    fingerprint.combine(app)
    fingerprint.combine(original)
    self.fingerprint = fingerprint.value
  }
}

/// One provider's events and current snapshot of one user.
public struct ReconciliationInput {
  /// The provider.
  public var provider: Provider
  /// Key of the user (`userKeyText`).
  public var user: String
  /// The newest snapshot with `captured_at` ≤ as-of; nil when no snapshot file names the user.
  public var snapshot: Snapshot?
  /// The user's lineages of both environments, and all lineages, including other users', with an
  /// original transaction id of the snapshot.
  public var lineages: [LineageInput]
  /// The user's lineages whose events before as-of are all newer than the snapshot.
  public var newerLineages: [LineageInput]

  /// The input for `user`.
  public init(
    provider: Provider, user: String, snapshot: Snapshot? = nil, lineages: [LineageInput] = [],
    newerLineages: [LineageInput] = []
  ) {
    self.provider = provider
    self.user = user
    self.snapshot = snapshot
    self.lineages = lineages
    self.newerLineages = newerLineages
  }
}
