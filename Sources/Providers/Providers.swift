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

  /// Whether a body is in `node`: as it is, in an object or array in it, or in JSON text.
  mutating func recognisesBody(in node: JSONNode, of tape: JSONTape) -> Bool {
    switch tape.kind(node) {
    case .object where mapper(of: node, on: tape) != nil: return true
    case .object, .array:
      let isObject = tape.kind(node) == .object
      return tape.children(of: node).contains {
        recognisesBody(in: isObject ? tape.value(ofKey: $0) : $0, of: tape)
      }
    case .string:
      let bytes = tape.bytes(node)
      guard let first = bytes.first, LogText.beginsJSON(first) else { return false }
      var text = JSONTape()
      return (try? text.read(bytes, from: 0)) != nil && recognisesBody(in: 0, of: text)
    default: return false
    }
  }
}
