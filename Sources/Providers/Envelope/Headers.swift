import Formats

// Request headers that an envelope kept: only they contain FLOBUK's app id, and the secrets of all
// providers except iaptic.
//
// Sources: the payload formats named in Envelope.swift. Header names are case-insensitive.

/// Whether a member that Vector added to the body's own is a header that some provider's reader
/// uses.
func isReadHeader(_ name: UnsafeRawBufferPointer) -> Bool {
  Providers.all.contains { mapper in
    mapper.secretHeaders.contains { name.isWord($0) }
      || mapper.appHeader.map { name.isWord($0) } ?? false
  }
}

extension JSONTape {
  /// The first text of the header `name` in the envelope `object`; nil if it has none.
  func header(
    _ name: StaticString, of object: JSONNode, in places: [String]
  ) -> UnsafeRawBufferPointer? {
    headers(name, of: object, in: places).lazy.map(headerText).first { !$0.isEmpty }
  }

  /// The values of the header `name`, which is in lower case, in `object`.
  ///
  /// The header can be in one of the members `places`, also those of `data`, as a member, a list of
  /// members or a flat list, or next to the body's members, where Vector puts the headers that it
  /// is configured to keep. A repeated header is several values, a list of values, or one value
  /// with commas.
  func headers(
    _ name: StaticString, of object: JSONNode, in places: [String]
  ) -> [JSONNode] {
    var found = members(name, of: object)
    for holder in [object, member(object, "data")].compactMap({ $0 }) {
      for headers in places.compactMap({ member(holder, $0) }) {
        found += kind(headers) == .array ? listed(name, in: headers) : members(name, of: headers)
      }
    }
    return found
  }

  /// Headers that a table dump stores as text; nil when there are none.
  func textOfHeaders(of object: JSONNode, in places: [String]) -> UnsafeRawBufferPointer? {
    let headers = places.lazy.compactMap { member(object, $0) }.first { kind($0) == .string }
    return headers.map(bytes)
  }

  /// The header as members: each a text or a list of texts.
  private func members(_ name: StaticString, of headers: JSONNode) -> [JSONNode] {
    guard kind(headers) == .object else { return [] }
    return children(of: headers).filter { bytes($0).isWord(name) }.map(value(ofKey:))
  }

  /// The header in a list of alternating names and values, of pairs, or of objects with a name.
  private func listed(_ name: StaticString, in headers: JSONNode) -> [JSONNode] {
    children(of: headers).flatMap { node -> [JSONNode] in
      switch kind(node) {
      case .string where bytes(node).isWord(name): return [next(node)].compactMap(\.self)
      case .array: return listed(name, in: node)
      case .object:
        let key = member(node, "name") ?? member(node, "key")
        guard let key, bytes(key).isWord(name) else { return [] }
        return [member(node, "value")].compactMap(\.self)
      default: return []
      }
    }
  }

  /// A header's first value; API Gateway joins repeated ones with commas.
  private func headerText(_ node: JSONNode) -> UnsafeRawBufferPointer {
    if kind(node) == .array { return firstChild(node).map(headerText) ?? .none }
    guard kind(node) == .string else { return .none }
    let first = bytes(node).prefix { $0 != UInt8(ascii: ",") }
    return UnsafeRawBufferPointer(rebasing: first).trimmed
  }
}
