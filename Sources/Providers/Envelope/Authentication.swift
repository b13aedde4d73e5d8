import Formats
import Domain

/// Judges a delivery by the secret that it carries.
///
/// Sources: the webhook pages of the providers: Qonversion sends `Authorization: Basic <token>`
/// with the token as it is, FLOBUK `X-Auth-Key`, iaptic the body's `password`. How Purple's
/// deliveries are secured is not published, so either header serves.
struct Authentication {
  /// What a look at one place came to.
  enum Match {
    /// There is nothing that could be a secret.
    case absent
    case matching
    case differing

    mutating func add(isMatching: Bool) {
      if isMatching { self = .matching } else if case .absent = self { self = .differing }
    }
  }

  private let secrets: [Provider: [Secret]]

  init(_ rules: NormaliserSettings) { secrets = rules.secrets.filter { !$0.value.isEmpty } }

  /// Whether deliveries of `provider` are judged at all.
  func judges(_ provider: Provider) -> Bool { secrets[provider] != nil }

  /// The secret in a body itself.
  func password(of body: JSONNode, _ provider: Provider, _ tape: JSONTape) -> Match {
    var match = Match.absent
    guard provider == .iaptic, let password = tape.member(body, "password") else { return match }
    judge(password, of: provider, tape, &match)
    return match
  }

  /// The secret in the headers that stand in `object`, a body or an envelope.
  func headers(of object: JSONNode, _ provider: Provider, _ tape: JSONTape) -> Match {
    var match = Match.absent
    for name in Self.headers(of: provider) {
      tape.forEachHeader(name, of: object) { judge($0, of: provider, tape, &match) }
    }
    return match
  }

  private static func headers(of provider: Provider) -> [StaticString] {
    switch provider {
    case .qonversion: ["authorization", "authorization-token"]
    case .flobuk: ["x-auth-key"]
    case .iaptic: []
    case .purple: ["authorization", "x-auth-key"]
    }
  }

  /// Who proves to know a secret may say other things beside it: one match is enough.
  private func judge(
    _ value: JSONNode, of provider: Provider, _ tape: JSONTape, _ match: inout Match
  ) {
    switch tape.kind(value) {
    case .null: break
    case .array:
      for element in tape.children(of: value) { judge(element, of: provider, tape, &match) }
    case .string: match.add(isMatching: isKnown(tape.bytes(value), provider))
    default: match.add(isMatching: false)
    }
  }

  /// Whether a text is a secret: the whole of it, or one of the values that a gateway joined with
  /// commas, each with its scheme or without.
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

/// More values than this in one header are not looked at.
private let joinedMax = 8

/// What follows the scheme `Basic` or `Bearer`; everything when there is none.
private func withoutScheme(_ text: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
  guard let space = text.firstIndex(of: 0x20) else { return text }
  let scheme = UnsafeRawBufferPointer(rebasing: text[..<space])
  guard scheme.isWord("basic") || scheme.isWord("bearer") else { return text }
  return UnsafeRawBufferPointer(rebasing: text[space...]).trimmed
}

extension BodyProblem {
  /// A delivery with a secret that is none of its provider's.
  static func unauthenticated(_ provider: Provider) -> BodyProblem {
    let place = provider == .iaptic ? "password" : "header"
    return BodyProblem(
      .unauthenticated, "\(place): is none of the secrets configured for \(provider.name)")
  }
}
