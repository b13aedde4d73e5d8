import Domain

/// What differs between the providers of a scenario: a row for each, beside its bodies.
///
/// The truth asks these rows, not the capabilities that the program has, so that it can disagree.
struct Sender: Sendable {
  /// Seconds since the first attempt at which it tries.
  ///
  /// Source: Qonversion webhook documentation: 1 min, 5 min, 3 h 55 min, 4 h and 16 h apart;
  /// IAPGUARD webhook documentation: 10 min, 60 min, 4 h and three times 12 h apart. iaptic and
  /// Purple publish none: theirs stays within a day.
  let attempts: [Int64]
  /// How late it can still deliver, in seconds: the last retry of its published schedule and an
  /// eighth of that.
  var deliveryWindow = 27 * hour
  /// The stores in its words, in the order of `App.stores`.
  var stores = App.stores
  /// Whether it has everything to send: country and storefront, and when a message was made.
  var isDetailed = false
  /// Whether refunds of things that renew, and of others, are sent at all.
  var sendsRefunds: @Sendable (ProductType) -> Bool = { _ in true }
  /// The app as bodies or headers name it; empty where neither does.
  var app: @Sendable (Shop) -> String = { _ in "" }
  /// Headers besides the content type; nil for none.
  var headers: @Sendable (Shop) -> JSON? = { _ in nil }
  /// Whether headers name the app, so that all of a person's lines keep them or none.
  var namesAppInHeaders = false
  /// Whether a second address receives a copy of every call about the person.
  var hasSecondAddress: @Sendable (Person) -> Bool = { _ in false }
  /// Whether anything of the shop is sent.
  var isReported: @Sendable (Shop) -> Bool = { _ in true }
  /// How far a report of a shop must agree with the truth, and why.
  let coverage: @Sendable (_ report: String, Shop) -> (Coverage.Grade, String)
  /// The customer with the data that it sends; nil when it sends nothing about the store.
  ///
  /// The true history stays unchanged. The sent events, and the expected reports, differ.
  var seen: @Sendable (CustomerSimulation, TimeSpan) -> CustomerSimulation? = { seen, _ in seen }
  /// The customer as it sends it with faults of its feed.
  var withFaults: @Sendable (CustomerSimulation, Scenario, TimeSpan) -> CustomerSimulation = {
    sent, _, _ in sent
  }
  /// The body of an occurrence in a message that was made in a second.
  let body: @Sendable (CustomerSimulation, Int, _ created: Int64, Envelope) -> JSON
  /// The answer of its own interface at the end; nil when it does not know the user.
  var snapshot: @Sendable (CustomerSimulation, TimeSpan) -> JSON? = { _, _ in nil }
  /// Our own name of a line of kind `other`.
  var nameOfOther: @Sendable (CustomerSimulation, Occurrence) -> String = { _, _ in "skipped" }
  /// Its own name of an event.
  let name: @Sendable (CustomerSimulation, Occurrence) -> String
  /// The user as the line of an occurrence names it; empty when it does not.
  let user: @Sendable (CustomerSimulation, Int) -> String
  /// Whether a line is of a subscription by its original transaction, or by its own.
  var namesOriginal: @Sendable (CustomerSimulation, Occurrence, TimeSpan) -> Bool = { _, _, _ in
    true
  }
  /// What of a lost event the rest of the record can show.
  let evidence: @Sendable (Evidence, Int) -> [String]

  /// A secret that is looked for where it must not be.
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

  /// The store as the provider names it.
  var reportedStore: Store { sender.stores[storeIndex] }
}
