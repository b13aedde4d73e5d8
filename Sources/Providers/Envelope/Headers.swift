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
  /// The text of the header `name` in the envelope `object`; empty if it has none.
  func header(
    _ name: StaticString, of object: JSONNode, in places: [String]
  ) -> UnsafeRawBufferPointer {
    var text = UnsafeRawBufferPointer.none
    forEachHeader(name, of: object, in: places) { value in
      if text.isEmpty { text = headerText(value) }
    }
    return text
  }

  /// Calls `visit` with each value of the header `name`, which is in lower case, in `object`.
  ///
  /// The header can be in one of the members `places`, also those of `data`, as a member, a list of
  /// members or a flat list, or next to the body's members, where Vector puts the headers that it
  /// is configured to keep. A repeated header is several values, a list of values, or one value
  /// with commas.
  func forEachHeader(
    _ name: StaticString, of object: JSONNode, in places: [String], _ visit: (JSONNode) -> Void
  ) {
    visitMembers(name, of: object, visit)
    for holder in [object, member(object, "data")].compactMap({ $0 }) {
      for place in places {
        guard let headers = member(holder, place) else { continue }
        if kind(headers) == .array {
          visitList(name, of: headers, visit)
        } else {
          visitMembers(name, of: headers, visit)
        }
      }
    }
  }

  /// Headers that a table dump stores as text; nil when there are none.
  func textOfHeaders(of object: JSONNode, in places: [String]) -> UnsafeRawBufferPointer? {
    let headers = places.lazy.compactMap { member(object, $0) }.first { kind($0) == .string }
    return headers.map(bytes)
  }

  /// The header as a member: a text or a list of texts.
  private func visitMembers(
    _ name: StaticString, of headers: JSONNode, _ visit: (JSONNode) -> Void
  ) {
    guard kind(headers) == .object else { return }
    for key in children(of: headers) where bytes(key).isWord(name) { visit(value(ofKey: key)) }
  }

  /// The header in a list of alternating names and values, of pairs, or of objects with a name.
  private func visitList(
    _ name: StaticString, of headers: JSONNode, _ visit: (JSONNode) -> Void
  ) {
    for node in children(of: headers) {
      switch kind(node) {
      case .string where bytes(node).isWord(name): next(node).map(visit)
      case .array: visitList(name, of: node, visit)
      case .object:
        if let key = member(node, "name") ?? member(node, "key"), bytes(key).isWord(name) {
          member(node, "value").map(visit)
        }
      default: break
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
