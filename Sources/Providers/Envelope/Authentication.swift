import Domain
import Formats

/// Checks the secret of a delivery, at the places that its provider's `BodyMapper` names.
struct Authentication {
  private let secrets: [Provider: [Secret]]

  init(_ rules: NormaliserSettings) { secrets = rules.secrets.filter { !$0.value.isEmpty } }

  func covers(_ mapper: any BodyMapper.Type) -> Bool { secrets[mapper.provider] != nil }

  /// Whether the secret in a body is its provider's; nil when the body has no secret.
  func member(of body: JSONNode, _ mapper: any BodyMapper.Type, _ tape: JSONTape) -> Bool? {
    let secret = mapper.secretMember.flatMap { tape.member(body, $0) }
    return areMatching([secret].compactMap(\.self), mapper.provider, tape)
  }

  /// The same for the headers in `object`, a body or an envelope.
  func headers(
    of object: JSONNode, in places: [String], _ mapper: any BodyMapper.Type, _ tape: JSONTape
  ) -> Bool? {
    let secrets = mapper.secretHeaders.flatMap { tape.headers($0, of: object, in: places) }
    return areMatching(secrets, mapper.provider, tape)
  }

  /// Whether one of `values` is a secret, whatever else is sent; nil when there are none.
  private func areMatching(
    _ values: [JSONNode], _ provider: Provider, _ tape: JSONTape
  ) -> Bool? {
    let found = values.compactMap { value -> Bool? in
      switch tape.kind(value) {
      case .null: nil
      case .array: areMatching(Array(tape.children(of: value)), provider, tape)
      case .string: isKnown(tape.bytes(value), provider)
      default: false
      }
    }
    return found.isEmpty ? nil : found.contains(true)
  }

  /// Whether a text is a secret: as a whole, or as one of the values that a gateway joined with
  /// commas, each with or without its scheme.
  private func isKnown(_ text: UnsafeRawBufferPointer, _ provider: Provider) -> Bool {
    let parts = text.split(separator: UInt8(ascii: ","), maxSplits: joinedMax)
    var isKnown = isSecret(text.trimmed, provider)
    for part in parts.prefix(joinedMax) where parts.count > 1 {
      if isSecret(UnsafeRawBufferPointer(rebasing: part).trimmed, provider) { isKnown = true }
    }
    return isKnown
  }

  private func isSecret(_ text: UnsafeRawBufferPointer, _ provider: Provider) -> Bool {
    var isSecret = false
    for secret in secrets[provider] ?? [] {
      if secret.matches(text) { isSecret = true }
      if secret.matches(withoutScheme(text)) { isSecret = true }
    }
    return isSecret
  }
}

/// Further values in one header are not checked.
private let joinedMax = 8

/// The text after the scheme `Basic` or `Bearer`; the whole text when there is no scheme.
private func withoutScheme(_ text: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
  guard let space = text.firstIndex(of: 0x20) else { return text }
  let scheme = UnsafeRawBufferPointer(rebasing: text[..<space])
  guard scheme.isWord("basic") || scheme.isWord("bearer") else { return text }
  return UnsafeRawBufferPointer(rebasing: text[space...]).trimmed
}

extension BodyProblem {
  /// A delivery with a secret that is not one of its provider's.
  static func unauthenticated(_ mapper: any BodyMapper.Type) -> BodyProblem {
    let place = mapper.secretMember ?? "header"
    return BodyProblem(
      .unauthenticated, "\(place): is not a secret configured for \(mapper.provider.name)")
  }
}

/// A secret that authenticates a provider's deliveries; deliveries are compared with its SHA-256.
///
/// Printing or dumping one shows only that it exists.
public struct Secret: Sendable, CustomStringConvertible, CustomReflectable {
  /// The SHA-256 as hex digits.
  let digest: [UInt8]
  /// The secret itself, for a request.
  public let text: String

  /// The secret in `bytes`, without the white space around it, as in headers.
  ///
  /// - Returns: nil when nothing else is left.
  public init?(_ bytes: [UInt8]) {
    let trimmed = bytes.withUnsafeBytes { Array($0.trimmed) }
    guard !trimmed.isEmpty else { return nil }
    digest = Array(sha256(of: trimmed).utf8)
    text = String(decoding: trimmed, as: UTF8.self)
  }

  /// The word `secret`.
  public var description: String { "secret" }

  /// A mirror without children, so that a dump shows nothing.
  public var customMirror: Mirror { Mirror(self, children: []) }

  func matches(_ text: UnsafeRawBufferPointer) -> Bool {
    isEqualAtEveryByte(Array(sha256(of: Array(text)).utf8), digest)
  }
}

/// Whether both have the same bytes; takes the same time wherever they differ, because every byte
/// is compared once.
func isEqualAtEveryByte<Bytes: RandomAccessCollection>(
  _ left: Bytes, _ right: Bytes
) -> Bool where Bytes.Element == UInt8 {
  guard left.count == right.count else { return false }
  var difference: UInt8 = 0
  for (one, other) in zip(left, right) { difference |= one ^ other }
  return difference == 0
}
