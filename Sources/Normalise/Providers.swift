import Decode
import Vocabulary

/// Tells whose body an object is, and hands it to that provider's normaliser.
///
/// A new provider is a test in `provider(of:)` and a case in `normalise`.
struct Providers {
  private var qonversion: Qonversion

  init(rules: NormaliseRules) { qonversion = Qonversion(rules: rules) }

  /// The provider whose whole body `object` is; nil when no provider recognises it.
  mutating func provider(of object: JSONNode, on tape: JSONTape) -> Provider? {
    qonversion.look(at: object, of: tape)
    if qonversion.isBody(tape) { return .qonversion }
    let hasType = isPresent("type", in: object, tape)
    if hasType, isPresent("eventTimeMillis", in: object, tape),
      isObject("properties", in: object, tape)
    {
      return .purple
    }
    if hasType, isPresent("password", in: object, tape) { return .iaptic }
    if isPresent("transaction", in: object, tape), isPresent("store", in: object, tape),
      isObject("data", in: object, tape)
    {
      return .flobuk
    }
    return nil
  }

  /// The provider whose body `object` must be although something in it is missing.
  mutating func providerOfDamaged(_ object: JSONNode, on tape: JSONTape) -> Provider? {
    qonversion.look(at: object, of: tape)
    return qonversion.isDamagedBody(tape) ? .qonversion : nil
  }

  /// Turns the body that was looked at last into events of `batch`.
  ///
  /// - Returns: why there are none, when the body is known to be no purchase event.
  mutating func normalise(
    _ object: JSONNode, of provider: Provider, on tape: JSONTape, received: Instant?,
    at place: Place, to batch: inout EventBatch
  ) throws(BodyProblem) -> SkipReason? {
    switch provider {
    case .qonversion:
      return try qonversion.normalise(
        object, of: tape, received: received, at: place, to: &batch)
    case .iaptic where isTest(object, tape): return .test
    case .flobuk, .iaptic, .purple:
      throw BodyProblem(
        .unsupportedProvider, "bodies of \(provider.name) are not read by this version")
    }
  }

  private func isTest(_ object: JSONNode, _ tape: JSONTape) -> Bool {
    guard let type = tape.member(object, "type"), tape.kind(type) == .string else { return false }
    return tape.bytes(type).isWord("test")
  }

  private func isPresent(_ key: StaticString, in object: JSONNode, _ tape: JSONTape) -> Bool {
    tape.member(object, key).map { tape.kind($0) != .null } ?? false
  }

  private func isObject(_ key: StaticString, in object: JSONNode, _ tape: JSONTape) -> Bool {
    tape.member(object, key).map { tape.kind($0) == .object } ?? false
  }
}
