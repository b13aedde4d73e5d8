import Formats
import Domain

enum Outcome {
  /// A provider accepted it: it has events, or is known to have none.
  case handled(SkipReason?)
  case refused(BodyProblem)
  case unknown(BodyProblem)
  /// The value is empty.
  case empty

  /// The rank of an outcome; a list has the highest of its elements.
  var rank: Int {
    switch self {
    case .handled(nil): 4
    case .handled: 3
    case .refused: 2
    case .unknown: 1
    case .empty: 0
    }
  }

  /// Whether it ends the search for a body, because a provider recognised one.
  var isFinal: Bool { rank >= 2 }
}

extension JSONTape {
  /// Whether `object` has members and all of them are lists, like Kafka's records by topic.
  func holdsOnlyLists(_ object: JSONNode) -> Bool {
    count(object) > 0 && children(of: object).allSatisfy { kind(value(ofKey: $0)) == .array }
  }

  /// Whether `object` is a provider API's response to a failed request.
  ///
  /// Sources: iaptic-client, `{"ok":false,"status","code","message"}`; IAPGUARD, Error codes,
  /// `{"code","error"}`.
  func isErrorResponse(_ object: JSONNode) -> Bool {
    func sent(_ name: String) -> JSONKind { member(object, name).map(kind) ?? .null }
    return sent("ok") == .false || sent("code") != .null && sent("error") != .null
  }

  /// The names of the first members of the value, or of a list's first element, in at most 125
  /// bytes of ASCII; nil when it has none.
  var memberNames: String? {
    var node: JSONNode? = 0
    while let list = node, kind(list) == .array { node = firstChild(list) }
    guard let node, kind(node) == .object else { return nil }
    var (names, length): ([String], Int) = ([], 0)
    for member in children(of: node) {
      let shown = UnknownName.shown(bytes(member), isMember: true)
      let name = shown.utf8.allSatisfy { $0 < 0x7F } ? shown : UnknownName.withheld
      length += name.utf8.count + 2
      guard names.count < 12, length <= 120 else {
        names.append("...")
        break
      }
      names.append(name)
    }
    return names.joined(separator: ", ")
  }
}

extension BodyProblem {
  var isNoObject: Bool { reason == .notJSON && !isCut || reason == .notAnObject }

  /// Whether the error message should list the names of the line's members, which may be unknown.
  var isOfNames: Bool { [Self.unknownBody.detail, Self.textNotJSON.detail].contains(detail) }

  /// A number, a word or a list of these.
  static let notAnObject = BodyProblem(.notAnObject, "the value is not a JSON object")

  static let unknownBody = BodyProblem(.unknownProvider, "no provider recognises this body")

  /// A complete body that has no effect for any user.
  static let withoutUser = BodyProblem(
    .missingField, "the body contains neither a purchase nor a user")

  /// An API's response to a failed request, which is not a webhook.
  static let errorResponse = BodyProblem(
    .errorResponse, "the line is an error that a provider's API returned")

  /// An envelope without the content that its sender left out.
  static let tooLarge = BodyProblem(
    .missingField, "body: the sender left it out because it was too large")

  /// The JSON defect of a text in an envelope.
  init(_ problem: JSONProblem, inEnvelope text: UnsafeRawBufferPointer) {
    self.init(
      .notJSON, "the text in the envelope: \(problem.reason) at byte \(problem.offset)")
    isCut = problem.isCut && text.first == UInt8(ascii: "{")
  }

  /// An envelope whose content is other text.
  static let textNotJSON = BodyProblem(.notJSON, "the text in the envelope is not a JSON object")
}
