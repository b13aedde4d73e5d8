import Formats
import Domain

/// The members under which the writers of archives put a body and the time they received it.
///
/// Sources: the payload formats of API Gateway (`body`, `requestContext`), Hookdeck
/// (`data.body`, `ingested_at`), Svix (`payload`), SNS (`Message`, `Timestamp`), EventBridge
/// (`detail`, `time`), Pub/Sub (`message.data`, `publishTime`), Vector (`message`, `timestamp`),
/// Fluent Bit (`date`), and the usual columns of own handlers and tables.
enum EnvelopeField: Int, MemberField {
  case body, data, payload, message, detail, rawPayload, event, record
  case isLargePayload, requestContext
  /// The receive time, the most specific name first.
  case received

  var names: [String] {
    switch self {
    case .body: ["body"]
    case .data: ["data"]
    case .payload: ["payload"]
    case .message: ["message", "Message"]
    case .detail: ["detail"]
    case .rawPayload: ["raw_payload", "rawPayload", "rawBody", "raw_body", "raw_json"]
    case .event: ["event"]
    case .record: ["record"]
    case .isLargePayload: ["is_large_payload"]
    case .requestContext: ["requestContext"]
    case .received:
      [
        "receivedAt", "received_at", "ingested_at", "publishTime", "Timestamp", "ts", "timestamp",
        "time", "date",
      ]
    }
  }
}

/// Where writers of archives put the receive time among a body's own members: Vector adds
/// `timestamp`, Fluent Bit `date`, table exports the others.
let receivedNames = ["received_at", "receivedAt", "ingested_at", "timestamp", "date", "ts"]

/// What writers of archives add besides among a body's own members.
let addedNames = [
  "path", "source_type", "host", "headers", "method", "query", "REMOTE_ADDR", "remote_addr", "id",
]

/// One object read as an envelope.
struct Envelope {
  /// Members that may be the body, in the order in which they are tried.
  private(set) var contents: [JSONNode] = []
  /// Whether the envelope reports that the body was too large to be kept.
  private(set) var isTooLarge = false
  private(set) var received: Instant?
  /// Whether it is an envelope by what its writer adds, around a request without any body.
  ///
  /// API Gateway leaves `body` out then, and a Fluent Bit record then has only the members that it
  /// adds to the body's.
  private(set) var isBare = false

  init(_ object: JSONNode, of tape: JSONTape, _ members: inout Members<EnvelopeField>) {
    members.read(object, of: tape)
    let data = members.value(.data)
    let dataBody = data.flatMap { tape.member($0, "body") }
    let flags = [
      members.value(.isLargePayload), data.flatMap { tape.member($0, "is_large_payload") },
    ]
    isTooLarge = flags.contains { $0.map { tape.kind($0) == .true } ?? false }
    let named: [JSONNode?] =
      [members.present(.body), dataBody]
      + [.payload, .message, .detail, .rawPayload, .event, .record].map {
        members.value($0)
      } + [dataBody == nil ? data : nil]
    contents = named.compactMap { $0 }
    let requested = Self.requestTime(members.value(.requestContext), tape)
    received = requested ?? members.first(.received) { receiveTime($0, of: tape) }
    isBare =
      contents.isEmpty && received != nil
      && (requested != nil || Self.holdsOnlyRecordMembers(object, tape))
  }

  /// Whether all members are such as Fluent Bit adds: the time, and where the request came from.
  private static func holdsOnlyRecordMembers(_ object: JSONNode, _ tape: JSONTape) -> Bool {
    tape.children(of: object).allSatisfy { key in
      let name = tape.bytes(key)
      return name.isWord("date") || name.isWord("remote_addr")
    }
  }

  /// API Gateway's receive time: `timeEpoch` in payload format 2.0, `requestTimeEpoch` in 1.0.
  private static func requestTime(_ context: JSONNode?, _ tape: JSONTape) -> Instant? {
    guard let context else { return nil }
    let time = tape.member(context, "timeEpoch") ?? tape.member(context, "requestTimeEpoch")
    return time.flatMap { receiveTime($0, of: tape) }
  }
}

/// A receive time as its writer put it: epoch seconds or milliseconds, or RFC 3339.
///
/// - Returns: nil if it is not a time; a body is valid whatever its envelope. A time before the
///   first app store is not accepted: a table's column may hold `20251009`.
func receiveTime(_ node: JSONNode, of tape: JSONTape) -> Instant? {
  let text = tape.bytes(node)
  let time: Instant?
  switch tape.kind(node) {
  case .number: time = InstantText.epoch(text, unit: .guess)
  case .string: time = InstantText.epoch(text, unit: .guess) ?? InstantText.rfc3339(text)
  default: time = nil
  }
  guard let time, time >= firstShop else { return nil }
  return time
}

/// 1 January 2008, UTC: the App Store opened in July.
let firstShop = Instant(seconds: 1_199_145_600)
