import Formats
import Domain

/// The members in which the writers of archives and logs put a body, an object that contains it, or
/// the time they received it.
///
/// Sources: the payload formats and log records of the producers that docs/operations.md lists, and
/// common columns of custom handlers and tables.
enum EnvelopeField: Int, MemberField {
  static let table = MemberTable(Self.self)
  /// A body; null means that there is none.
  case body
  /// A body or an envelope inside this one, in the order in which they are tried.
  case content
  case isLargePayload
  /// The object that contains the receive time of this one.
  case timed
  /// The receive time, the most specific name first.
  case received

  var names: [String] {
    switch self {
    case .body: ["body", "Body"]
    case .content:
      [
        "payload", "message", "Message", "detail", "raw_payload", "rawPayload", "rawBody",
        "raw_body", "raw_json", "request_body", "requestBody", "RequestBody", "event", "record",
        "data", "Data", "value", "content", "log", "log_processed", "jsonPayload", "textPayload",
        "line", "msg", "MESSAGE", "@message", "_raw", "Records", "records", "Messages", "logEvents",
        "events", "Sns", "kinesis", "streams", "values", "result", "Logs", "logs", "request", "req",
        "properties", "_source", "awslogs",
      ]
    case .isLargePayload: ["is_large_payload"]
    case .timed: ["requestContext", "attributes", "Attributes"]
    case .received:
      [
        "receivedAt", "received_at", "ingested_at", "publishTime", "timeEpoch", "requestTimeEpoch",
        "SentTimestamp", "approximateArrivalTimestamp", "ApproximateArrivalTimestamp", "Timestamp",
        "ts", "timestamp", "@timestamp", "TimestampMs", "EventTimestampMs", "eventTimestamp",
        "time", "date", "time_iso8601", "msec", "eventTime", "EnqueuedTimeUtc", "TimeGenerated",
        "EdgeStartTimestamp", "_time", "__REALTIME_TIMESTAMP", "created_at",
      ]
    }
  }
}

/// Configured names of members in a project's own archives, tried before the known ones.
public struct EnvelopeNames: Sendable, Equatable {
  /// Members that may contain the body.
  public var body: [String] = []
  /// Members that may contain the receive time.
  public var received: [String] = []
  /// Members that may contain the request's headers.
  public var headers: [String] = []

  /// Only the known names.
  public init() {}

  var fields: [Int: [String]] {
    [EnvelopeField.body.rawValue: body, EnvelopeField.received.rawValue: received]
  }
}

/// The receive time that writers of archives add among a body's own members: Vector as `timestamp`,
/// Fluent Bit as `date`, table exports as the others.
let receivedNames = ["received_at", "receivedAt", "ingested_at", "timestamp", "date", "ts"]

/// Other members that writers of archives add among a body's own.
let addedNames = [
  "path", "source_type", "host", "headers", "method", "query", "REMOTE_ADDR", "remote_addr", "id",
]

struct Envelope {
  /// Members that may be the body or contain it, in the order in which they are tried.
  private(set) var contents: [JSONNode] = []
  private(set) var isTooLarge = false
  private(set) var received: Instant?
  /// Whether its writer's members show that it is an envelope around a request without a body.
  ///
  /// API Gateway then leaves out `body`, and a Fluent Bit record then has only the members that it
  /// adds to the body's.
  private(set) var isBare = false

  init(_ object: JSONNode, of tape: JSONTape, _ members: inout Members<EnvelopeField>) {
    members.read(object, of: tape)
    isTooLarge = members.value(.isLargePayload).map { tape.kind($0) == .true } ?? false
    contents = (members.present(.body).map { [$0] } ?? []) + members.values(.content)
    received = members.receiveTime(.received, of: tape)
    let holder = members.value(.timed)
    isBare = contents.isEmpty && Self.holdsOnlyRecordMembers(object, tape) && received != nil
    guard let holder, tape.kind(holder) == .object else { return }
    members.read(holder, of: tape)
    guard let time = members.receiveTime(.received, of: tape) else { return }
    received = time
    isBare = contents.isEmpty
  }

  /// Whether Fluent Bit could have added all members: the time and the request's origin.
  private static func holdsOnlyRecordMembers(_ object: JSONNode, _ tape: JSONTape) -> Bool {
    tape.children(of: object).allSatisfy { key in
      let name = tape.bytes(key)
      return name.isWord("date") || name.isWord("remote_addr")
    }
  }
}

extension JSONTape {
  /// A receive time in the writer's format: epoch seconds, milliseconds, microseconds or
  /// nanoseconds, or RFC 3339.
  ///
  /// - Returns: nil if it is not a time; a body is valid whatever its envelope contains. A time
  ///   before the first app store is ignored: a table's column may contain `20251009`.
  func receiveTime(_ node: JSONNode) -> Instant? {
    var text = bytes(node)
    // Loki counts nanoseconds, journald microseconds.
    if text.count == 19 || text.count == 16, text.allSatisfy(isDigit) {
      text = UnsafeRawBufferPointer(rebasing: text.prefix(13))
    }
    let time: Instant? =
      switch kind(node) {
      case .number: InstantText.epoch(text)
      case .string: InstantText.epoch(text) ?? InstantText.rfc3339(text)
      default: nil
      }
    return time.flatMap { $0 >= firstStoreOpened ? $0 : nil }
  }

  /// The time that is a list's first element: Loki's lines are pairs of a time and a text.
  func leadingTime(of list: JSONNode) -> Instant? {
    guard kind(list) == .array, let first = firstChild(list) else { return nil }
    return receiveTime(first)
  }
}

/// 10 July 2008, UTC: the App Store, the first of all stores, opened.
let firstStoreOpened = Instant(seconds: 1_215_648_000)

extension Instant {
  /// Rejects an event time before the first store opened; `name` is the member's name.
  func checkPossible(_ name: @autoclosure () -> String) throws(BodyProblem) {
    guard self < firstStoreOpened else { return }
    throw BodyProblem(.impossibleTime, "\(name()): before 2008-07-10, when the first store opened")
  }
}
