import Formats
import Domain

/// Tells whose body an object is, and hands it to that provider's normaliser.
///
/// A new provider is a test in `BodyMarks` and a case in `normalise`.
struct Providers {
  private var qonversion: Qonversion
  private var flobuk: Flobuk
  private var iaptic: Iaptic
  private var purple: Purple
  private var marks = BodyMarks()

  init(rules: NormaliserSettings) {
    qonversion = Qonversion(rules: rules)
    flobuk = Flobuk(rules: rules)
    iaptic = Iaptic(rules: rules)
    purple = Purple(rules: rules)
  }

  /// The provider whose whole body `object` is; nil when no provider recognises it.
  mutating func provider(of object: JSONNode, on tape: JSONTape) -> Provider? {
    qonversion.look(at: object, of: tape)
    if qonversion.isBody(tape) { return .qonversion }
    marks.look(at: object, of: tape)
    return marks.provider(tape)
  }

  /// The provider whose body `object` must be although something in it is missing.
  mutating func providerOfDamaged(_ object: JSONNode, on tape: JSONTape) -> Provider? {
    qonversion.look(at: object, of: tape)
    if qonversion.isDamagedBody { return .qonversion }
    marks.look(at: object, of: tape)
    return marks.providerOfDamaged(tape)
  }

  /// Whether `object` is what a provider's interface answers when a request fails.
  mutating func isErrorResponse(_ object: JSONNode, on tape: JSONTape) -> Bool {
    marks.look(at: object, of: tape)
    return marks.isErrorResponse(tape)
  }

  /// Turns the body that was looked at last into events of `batch`.
  ///
  /// - Returns: why there are none, when the body is known to be no purchase event.
  mutating func normalise(
    _ object: JSONNode, of provider: Provider, on tape: JSONTape, _ delivery: Delivery,
    to batch: inout EventBatch
  ) throws(BodyProblem) -> SkipReason? {
    switch provider {
    case .qonversion:
      return try qonversion.normalise(
        object, of: tape, received: delivery.received, at: delivery.place, to: &batch)
    case .purple: return try purple.normalise(object, of: tape, delivery, to: &batch)
    case .iaptic: return try iaptic.normalise(object, of: tape, delivery, to: &batch)
    case .flobuk:
      try flobuk.normalise(object, of: tape, delivery, to: &batch)
      return nil
    }
  }
}
