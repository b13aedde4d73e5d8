import Domain

/// The differences between the providers of a scenario: one row each, next to its bodies.
///
/// The truth uses these rows, not the program's capabilities, so that the two can disagree.
struct Sender: Sendable {
  /// Times of delivery attempts, in seconds since the first.
  ///
  /// Source: Qonversion webhook documentation: 1 min, 5 min, 3 h 55 min, 4 h and 16 h apart;
  /// IAPGUARD webhook documentation: 10 min, 60 min, 4 h and three times 12 h apart. iaptic and
  /// Purple publish none: theirs stays within a day.
  let attempts: [Int64]
  /// How late it can still deliver, in seconds: the last retry of its published schedule plus one
  /// eighth.
  var deliveryWindow = 27 * hour
  /// Its names of the stores, in the order of `App.stores`.
  var stores = App.stores
  /// Whether it sends every field: country, storefront and the creation time of a message.
  var isDetailed = false
  /// Whether it sends refunds of renewing and of other purchases.
  var sendsRefunds: @Sendable (ProductType) -> Bool = { _ in true }
  /// The app as bodies or headers name it; empty if neither does.
  var app: @Sendable (Shop) -> String = { _ in "" }
  /// Headers in addition to the content type; nil for none.
  var headers: @Sendable (Shop) -> JSON? = { _ in nil }
  /// Whether headers name the app, so that all or none of a person's lines keep their headers.
  var namesAppInHeaders = false
  /// Whether a second address receives a copy of every call about the person.
  var hasSecondAddress: @Sendable (Person) -> Bool = { _ in false }
  /// Whether anything about the shop is sent.
  var isReported: @Sendable (Shop) -> Bool = { _ in true }
  /// How far a report of a shop must agree with the truth, and why.
  let coverage: @Sendable (_ report: String, Shop) -> (Coverage, String)
  /// The customer with the data that it sends, and with the faults of its feed.
  ///
  /// The true history stays unchanged. The sent events, and the expected reports, differ.
  let seen: @Sendable (CustomerSimulation, Scenario) -> CustomerSimulation
  /// The body of an event in a message created at a given second.
  let body: @Sendable (SentEvent, _ created: Int64, Scenario) -> JSON
  /// The answer of its API at the end; nil when it does not have the user.
  var snapshot: @Sendable (CustomerSimulation) -> JSON? = { _ in nil }
  /// The truth's name for a line of kind `other`.
  var nameOfOther: @Sendable (SentEvent) -> String = { _ in "skipped" }
  /// Its own name for an event.
  let name: @Sendable (SentEvent) -> String
  /// The user in the line of an event; empty when it names none.
  let user: @Sendable (SentEvent) -> String
  /// Whether a line identifies a subscription by its original transaction instead of its own.
  var namesOriginal: @Sendable (SentEvent) -> Bool = { _ in true }
  /// How the remaining data can reveal a lost event.
  let evidence: @Sendable (Evidence) -> [String]

  /// A secret that tests search for where it must not appear.
  static let secret = "simulated-secret"
}

extension Provider {
  var sender: Sender {
    switch self {
    case .qonversion: .qonversion
    case .flobuk: .flobuk
    case .iaptic: .iaptic
    case .purple: .purple
    }
  }
}

extension Shop {
  var sender: Sender { provider.sender }

  var appID: String { sender.app(self) }

  /// The store in the provider's words.
  var reportedStore: Store { sender.stores[storeIndex] }
}
