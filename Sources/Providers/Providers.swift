import Formats
import Domain

/// The mappers of all providers, in the order in which they check an object.
struct Providers {
  /// One line per provider, starting with the provider of most lines.
  static let all: [any BodyMapper.Type] = [
    Qonversion.self,
    Purple.self,
    Iaptic.self,
    Flobuk.self,
  ]

  /// The mapper that checked an object last may turn it into events.
  var mappers: [any BodyMapper]

  init(_ settings: NormaliserSettings) { mappers = Self.all.map { $0.init(settings) } }

  /// The index of the mapper whose complete body `object` is or, if `isDamaged`, whose body it must
  /// be although part of it is missing; nil when no provider recognises it.
  mutating func mapper(of object: JSONNode, on tape: JSONTape, isDamaged: Bool = false) -> Int? {
    for index in mappers.indices {
      mappers[index].read(object, of: tape)
      let isBody = isDamaged ? mappers[index].isDamagedBody(tape) : mappers[index].isBody(tape)
      if isBody { return index }
    }
    return nil
  }

  /// Whether a member of the object, at any depth, is a body, as an object or as text.
  mutating func recognisesMember(of object: JSONNode, on tape: JSONTape) -> Bool {
    for key in tape.children(of: object) {
      let value = tape.value(ofKey: key)
      switch tape.kind(value) {
      case .object where mapper(of: value, on: tape) != nil: return true
      case .object where recognisesMember(of: value, on: tape): return true
      case .string:
        var text = JSONTape()
        if (try? text.read(tape.bytes(value), from: 0)) != nil, text.kind(0) == .object,
          mapper(of: 0, on: text) != nil
        {
          return true
        }
      default: break
      }
    }
    return false
  }
}
