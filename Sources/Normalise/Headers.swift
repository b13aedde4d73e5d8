import Decode

// The one request header that matters: FLOBUK's app id stands nowhere else.
//
// Sources: the payload formats named in Envelope.swift. Names of headers are the same in any case.

extension JSONTape {
  /// The header `X-App-Id` that the envelope `object` kept, empty when it kept none.
  ///
  /// It may stand in `headers`, `multiValueHeaders` or `data.headers`, as a member, a list of
  /// members or a flat list, or beside the body, where Vector puts the headers that it is told to
  /// keep.
  func appHeader(of object: JSONNode) -> UnsafeRawBufferPointer {
    var places = [object]
    for holder in [object, member(object, "data")].compactMap({ $0 }) {
      for name: StaticString in ["headers", "multiValueHeaders", "rawHeaders"] {
        if let headers = member(holder, name) { places.append(headers) }
      }
    }
    for place in places {
      let found = kind(place) == .array ? listedHeader(place) : memberHeader(place)
      if !found.isEmpty { return found }
    }
    return .none
  }

  /// Headers that a dump of a table holds as text; nil when there are none.
  func textOfHeaders(of object: JSONNode) -> UnsafeRawBufferPointer? {
    guard let headers = member(object, "headers"), kind(headers) == .string else { return nil }
    return bytes(headers)
  }

  /// The header as a member: a text, or a list of texts.
  private func memberHeader(_ headers: JSONNode) -> UnsafeRawBufferPointer {
    guard kind(headers) == .object else { return .none }
    var child = firstChild(headers)
    while let key = child {
      if bytes(key).isWord("x-app-id") { return headerText(value(ofKey: key)) }
      child = next(key)
    }
    return .none
  }

  /// The header in a list: of names and values in turn, of pairs, or of objects with a name.
  private func listedHeader(_ headers: JSONNode) -> UnsafeRawBufferPointer {
    var child = firstChild(headers)
    while let node = child {
      switch kind(node) {
      case .string where bytes(node).isWord("x-app-id"):
        return next(node).map(headerText) ?? .none
      case .array:
        let found = listedHeader(node)
        if !found.isEmpty { return found }
      case .object:
        let name = member(node, "name") ?? member(node, "key")
        if let name, bytes(name).isWord("x-app-id") {
          return member(node, "value").map(headerText) ?? .none
        }
      default: break
      }
      child = next(node)
    }
    return .none
  }

  /// A header's first value; API Gateway joins repeated ones with commas.
  private func headerText(_ node: JSONNode) -> UnsafeRawBufferPointer {
    if kind(node) == .array { return firstChild(node).map(headerText) ?? .none }
    guard kind(node) == .string else { return .none }
    let first = bytes(node).prefix { $0 != UInt8(ascii: ",") }
    let text = first.drop { $0 == UInt8(ascii: " ") }
    return UnsafeRawBufferPointer(rebasing: text)
  }
}
