import Formats
import Domain

/// The mappers of all providers, in the order in which they look at an object.
struct Providers {
  /// One line for each provider; the one that most lines are of stands first.
  static let all: [any BodyMapper.Type] = [
    Qonversion.self,
    Purple.self,
    Iaptic.self,
    Flobuk.self,
  ]

  private var mappers: [any BodyMapper]

  init(_ settings: NormaliserSettings) { mappers = Self.all.map { $0.init(settings) } }

  /// The index of the mapper whose whole body `object` is, or if `isDamaged` whose body it must be
  /// although something in it is missing; nil when no provider recognises it.
  mutating func mapper(of object: JSONNode, on tape: JSONTape, isDamaged: Bool = false) -> Int? {
    for index in mappers.indices {
      mappers[index].look(at: object, of: tape)
      let isBody = isDamaged ? mappers[index].isDamagedBody(tape) : mappers[index].isBody(tape)
      if isBody { return index }
    }
    return nil
  }

  /// Has the mapper at `index`, which looked last, turn the body into events of `batch`.
  mutating func normalise(
    _ object: JSONNode, by index: Int, on tape: JSONTape, _ delivery: Delivery,
    to batch: inout EventBatch
  ) throws(BodyProblem) -> SkipReason? {
    try mappers[index].normalise(object, of: tape, delivery, to: &batch)
  }
}
