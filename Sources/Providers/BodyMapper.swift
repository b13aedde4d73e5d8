import Formats
import Domain

/// Maps the bodies of one provider to events.
protocol BodyMapper: SendableMetatype {
  static var provider: Provider { get }
  /// The request headers, in lower case, that may contain the secret.
  static var secretHeaders: [StaticString] { get }
  /// The member of the body that contains the secret; nil if there is none.
  static var secretMember: String? { get }
  /// The request header, in lower case, that names the app; nil if the body does.
  static var appHeader: StaticString? { get }
  /// Reads responses of the provider's own API about users; nil if only the canonical shape is
  /// known.
  static var snapshots: (any ProviderSnapshotReader)? { get }

  init(_ settings: NormaliserSettings)

  /// Reads the members of `object`, to which all other calls refer.
  mutating func read(_ object: JSONNode, of tape: JSONTape)

  /// Whether the object is certainly a complete body.
  func isBody(_ tape: JSONTape) -> Bool

  /// Whether the object must be a body although part of it is missing.
  func isDamagedBody(_ tape: JSONTape) -> Bool

  /// Turns the body into events of `batch`.
  ///
  /// - Returns: why there are no events, if the body is known not to be a purchase event.
  mutating func normalise(
    _ object: JSONNode, of tape: JSONTape, _ delivery: Delivery, to batch: inout EventBatch
  ) throws(BodyProblem) -> SkipReason?

  /// An id of a product or transaction as the provider's events write it.
  static func eventID(_ id: String) -> String
  /// An entitlement in the canonical shape with the ids that the provider's events use, so that the
  /// two can be matched.
  static func withEventIDs(_ entitlement: Entitlement) -> Entitlement
}

extension BodyMapper {
  static var secretMember: String? { nil }
  static var appHeader: StaticString? { nil }
  static var snapshots: (any ProviderSnapshotReader)? { nil }

  static func eventID(_ id: String) -> String { id }

  /// Play's renewals are under their base order, like events.
  static func withEventIDs(_ entitlement: Entitlement) -> Entitlement {
    var entitlement = entitlement
    entitlement.product = eventID(entitlement.product)
    entitlement.transactions = entitlement.transactions.map { sent in
      var sale = sent
      sale.id = eventID(sent.id)
      sale.product = eventID(sent.product)
      sale.originalID = eventID(sent.originalID)
      var original = sale.originalID.isEmpty ? sale.id : sale.originalID
      let base = original.withUTF8 { text(baseOrder(UnsafeRawBufferPointer($0))) }
      if base != sale.id || !sale.originalID.isEmpty { sale.originalID = base }
      return sale
    }
    return entitlement
  }
}

/// The provider of a body, and what the envelope adds to it.
struct Delivery {
  let provider: Provider
  let place: Provenance
  /// When the archive's endpoint received it; nil if the envelope does not contain that.
  var received: Instant?
  /// The app that a request header names, as bytes of the line; empty when no such header was kept.
  var app = UnsafeRawBufferPointer.none
}

/// Reads the responses of a provider's API about users.
protocol ProviderSnapshotReader {
  /// Whether a line without a provider's name has this shape.
  func recognises(_ line: Members<SnapshotField>, of tape: JSONTape) -> Bool

  /// The entitlements of the line's one user; nil when it has none in this shape.
  ///
  /// - Parameter capturedAt: decides which have ended; nil if unknown.
  mutating func entitlements(
    _ line: Members<SnapshotField>, of tape: JSONTape, at capturedAt: Instant?
  ) throws(BodyProblem) -> [Entitlement]?

  /// The users of a line that lists them; nil if it is not such a list.
  mutating func customers(
    _ line: Members<SnapshotField>, of tape: JSONTape
  ) throws(BodyProblem) -> [(user: String, entitlements: [Entitlement])]?
}

extension ProviderSnapshotReader {
  func customers(
    _ line: Members<SnapshotField>, of tape: JSONTape
  ) -> [(user: String, entitlements: [Entitlement])]? { nil }
}
