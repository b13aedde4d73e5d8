import Foundation
import Testing
import Domain

@testable import Providers

@Suite("Envelopes")
struct EnvelopeTests {
  private static let body = Body.renewal.line
  private static let quoted = Body.renewal.quoted
  private static let base64 = Data(body.utf8).base64EncodedString()
  private static let at = Instant(seconds: 1_760_000_100)
  private static let atMilliseconds = Instant(milliseconds: 1_760_000_100_250)

  /// One line of each producer, and its receive time.
  static let lines: [(name: String, line: String, received: Instant?)] = [
    ("bare", body, nil),
    ("wrapper, object", #"{"receivedAt":"2025-10-09T08:55:00Z","headers":{},"body":\#(body)}"#, at),
    ("wrapper, string", #"{"received_at":1760000100,"body":\#(quoted)}"#, at),
    ("wrapper, payload", #"{"ts":1760000100250,"payload":\#(body)}"#, atMilliseconds),
    ("wrapper, raw_payload", #"{"id":7,"received_at":"1760000100","raw_payload":\#(quoted)}"#, at),
    ("wrapper, raw_json", #"{"timestamp":1760000100,"raw_json":\#(quoted)}"#, at),
    ("wrapper, rawBody", #"{"date":1760000100,"rawBody":\#(quoted)}"#, at),
    (
      "table export with columns of its own",
      #"""
      {"event_name":"subscription_renewed","user_id":"QON_1","product_id":"p",\#
      "received_at":1760000100,"raw_payload":\#(body)}
      """#, at
    ),
    (
      "API Gateway 2.0",
      #"""
      {"version":"2.0","headers":{"authorization":"Basic x"},\#
      "requestContext":{"time":"09/Oct/2025:08:55:00 +0000","timeEpoch":1760000100250},\#
      "body":\#(quoted),"isBase64Encoded":false}
      """#, atMilliseconds
    ),
    (
      "API Gateway 2.0, base64",
      #"""
      {"version":"2.0","requestContext":{"timeEpoch":1760000100250},\#
      "body":"\#(base64)","isBase64Encoded":true}
      """#, atMilliseconds
    ),
    (
      "API Gateway 1.0",
      #"""
      {"headers":{},"multiValueHeaders":{},"requestContext":{"requestTimeEpoch":1760000100250},\#
      "body":\#(quoted),"isBase64Encoded":false}
      """#, atMilliseconds
    ),
    (
      "Vector, JSON",
      Body.renewal.with("path", "\"/hook\"").with("source_type", "\"http_server\"")
        .with("timestamp", "\"2025-10-09T08:55:00.250Z\"").line, atMilliseconds
    ),
    (
      "Vector, text",
      #"{"message":\#(quoted),"path":"/","timestamp":"2025-10-09T08:55:00Z"}"#, at
    ),
    ("Fluent Bit", Body.renewal.with("date", "1760000100.250").line, atMilliseconds),
    (
      "Hookdeck",
      #"""
      {"id":"evt","team_id":"t","ingested_at":"2025-10-09T08:55:00.250Z",\#
      "data":{"path":"/","headers":{},"body":\#(body),"is_large_payload":false}}
      """#, atMilliseconds
    ),
    (
      "Hookdeck, string",
      #"{"ingested_at":"2025-10-09T08:55:00Z","data":{"body":\#(quoted)}}"#, at
    ),
    ("Svix, object", #"{"eventType":"hook","payload":\#(body)}"#, nil),
    ("Svix, string", #"{"eventType":"hook","payload":\#(quoted)}"#, nil),
    ("Kafka, string in string", quoted, nil),
    ("Kafka, wrapper in string", quote(#"{"ts":1760000100,"body":\#(quoted)}"#), at),
    (
      "SNS",
      #"""
      {"Type":"Notification","MessageId":"1","Message":\#(quoted),\#
      "Timestamp":"2025-10-09T08:55:00.250Z"}
      """#, atMilliseconds
    ),
    ("SQS with SNS", #"{"body":\#(quote(#"{"Type":"Notification","Message":\#(quoted)}"#))}"#, nil),
    (
      "EventBridge",
      #"{"version":"0","detail-type":"x","time":"2025-10-09T08:55:00Z","detail":\#(body)}"#, at
    ),
    (
      "Pub/Sub",
      #"""
      {"message":{"data":"\#(base64)","messageId":"1",\#
      "publishTime":"2025-10-09T08:55:00.250Z"},"subscription":"s"}
      """#, atMilliseconds
    ),
    ("CloudEvents", #"{"specversion":"1.0","time":"2025-10-09T08:55:00Z","data":\#(body)}"#, at),
    ("row of a table by days", #"{"date":"20251009","payload":\#(body)}"#, nil),
    ("log record", #"{"message":"received a hook","record":\#(body)}"#, nil),
    ("event", #"{"event":\#(body),"date":"2025-10-09"}"#, Instant(seconds: 1_759_968_000)),
    ("three layers", #"{"payload":{"detail":{"record":\#(body)}}}"#, nil),
  ]

  @Test(
    "A time after a log level or a syslog prefix is the receive time",
    arguments: [
      ("INFO ", true), ("<134>1 ", true), ("83 <134>1 ", true), ("a b c ", false),
      ("83 <134>1 - ", false),
    ])
  func prefixed(start: String, isTime: Bool) {
    let batch = normalise("\(start)2025-10-09T08:55:00Z web hook - \(Body.renewal.line)")
    #expect(batch.events.map(\.received) == [isTime ? Instant(seconds: 1_760_000_100) : nil])
  }

  @Test("The body is found in every producer's envelope", arguments: lines)
  func producers(name: String, line: String, received: Instant?) throws {
    let plain = normalise(Self.body).events[0]
    let batch = normalise(line)
    #expect(batch.rejects.map(\.detail) == [] && batch.lines == 1)
    var event = try #require(batch.events.first)
    #expect(event.received == received)
    event.received = nil
    if !name.hasPrefix("Vector, JSON"), name != "Fluent Bit" { #expect(event.body == plain.body) }
    event.body = plain.body
    #expect(event == plain)
  }

  @Test("The outermost receive time counts, and a body's own time does not")
  func outermost() {
    let inner = #"{"received_at":1760000200,"body":\#(Self.body)}"#
    let batch = normalise(#"{"received_at":1760000100,"payload":\#(inner)}"#)
    #expect(batch.events.first?.received == Self.at)
    let unreadable = normalise(#"{"received_at":"yesterday","payload":\#(inner)}"#)
    #expect(unreadable.events.first?.received == Instant(seconds: 1_760_000_200))
    #expect(normalise(Self.body).events.first?.received == nil)
  }

  @Test(
    "Of several receive times the first valid one counts",
    arguments: [
      #""receivedAt":"","ts":1760000100"#, #""received_at":"soon","timestamp":"1760000100""#,
      #""ts":null,"time":"2025-10-09 08:55:00 UTC""#, #""received_at":"2025-10-09 08:55:00+00""#,
    ])
  func severalTimes(members: String) {
    #expect(normalise("{\(members),\"body\":\(Self.body)}").events.first?.received == Self.at)
  }

  @Test("A byte order mark may start a text in an envelope")
  func byteOrderMark() {
    let marked = quote("\u{feff}" + Self.body)
    #expect(normalise("{\"body\":\(marked)}").events.count == 1)
    #expect(refusal(#"{"body":"\#u{feff}hello"}"#)[0] == "not_json")
  }

  @Test(
    "iaptic's test is skipped if the archive removed its secret",
    arguments: [
      #"{"type":"test"}"#, #"{"body":{"type":"test","password":null}}"#,
      #"{"type":"test","message":"hello"}"#,
    ])
  func redactedTest(line: String) {
    let batch = normalise(line)
    #expect(batch.rejects.isEmpty && batch.skipped.values.reduce(0, +) == 1)
    #expect(refusal(#"{"type":"test","properties":{"a":1}}"#)[0] == "unknown_provider")
  }

  @Test("An envelope of the type `test` hides no body")
  func testEnvelope() {
    for content in [#""message":\#(quote(Self.body))"#, #""event":\#(Self.body)"#] {
      let batch = normalise(#"{"@timestamp":"2025-10-09T08:53:30Z","type":"test",\#(content)}"#)
      #expect(batch.events.count == 1 && batch.skipped.isEmpty)
    }
  }

  @Test("A ninth layer or a sixth text is not searched")
  func manyLayers() {
    func inside(_ layers: Int) -> String {
      (0..<layers).reduce(Self.body) { inner, _ in #"{"payload":\#(inner)}"# }
    }
    #expect(normalise(inside(8)).events.count == 1)
    #expect(refusal(inside(9))[0] == "unknown_provider")
    func texts(_ count: Int) -> String { (0..<count).reduce(Self.body) { text, _ in quote(text) } }
    #expect(normalise(texts(5)).events.count == 1)
    #expect(refusal(texts(6))[0] == "unknown_provider")
  }

  @Test(
    "Empty bodies are registration probes",
    arguments: [
      "{}", #"{"headers":{},"body":{}}"#, #"{"body":""}"#, #"{"body":"{}"}"#, #"{"body":null}"#,
      #"{"data":{"body":"  "}}"#, #"{"body":"e30=","isBase64Encoded":true}"#, "\"\"",
      #"{"version":"2.0","headers":{},"requestContext":{"timeEpoch":1760000100250}}"#,
      #"{"headers":{},"requestContext":{"requestTimeEpoch":1760000100250},"httpMethod":"POST"}"#,
      #"{"date":1760000100.25}"#, #"{"date":1760000100.25,"REMOTE_ADDR":"192.0.2.1"}"#,
      "[]", #"{"Records":[]}"#, #"{"body":"[]"}"#,
    ])
  func probes(line: String) {
    let batch = normalise(line)
    #expect(batch.events.isEmpty && batch.rejects.isEmpty && batch.lines == 1)
    #expect(batch.skipped == ["registration_probe": 1])
  }

  @Test(
    "A line is rejected if its known members are empty and another one contains a webhook",
    arguments: [
      #"{"level":"info","msg":"","hook":\#(body)}"#,
      #"{"receivedAt":"2025-10-09T08:55:00Z","body":{},"raw":\#(quoted)}"#,
      #"{"message":"","customDimensions":{"request":{"text":\#(quoted)}}}"#,
      #"{"Records":[],"hooks":[{"text":\#(quote(#"{"request":\#(body)}"#))}]}"#,
    ])
  func elsewhere(line: String) {
    #expect(refusal(line)[0] == "unknown_provider")
    #expect(refusal(line)[1].contains("the line's members: "))
  }

  @Test("A body that the sender omitted for its size is missing, not a probe")
  func largePayload() {
    #expect(
      refusal(#"{"id":"e","data":{"body":null,"is_large_payload":true}}"#)
        == ["missing_field", "body: the sender left it out because it was too large"])
  }

  @Test("A value in an envelope that is not a body is refused")
  func otherContent() {
    #expect(refusal(#"{"body":"hello"}"#)[0] == "not_json")
    #expect(refusal(#"{"body":"a=1&b=2"}"#)[0] == "not_json")
    #expect(refusal(#"{"body":"{\"a\":1} x"}"#)[0] == "not_json")
    let broken = refusal(#"{"body":"{\"a\":"}"#)
    #expect(broken[0] == "not_json" && broken[1].hasPrefix("the text in the envelope: "))
    #expect(refusal(#"{"test":"ping"}"#)[0] == "unknown_provider")
    #expect(refusal(#"{"body":[1]}"#)[0] == "not_an_object")
  }

  @Test(
    "An object that no archive writer marked as an envelope is not a probe",
    arguments: [
      #"{"test":"ping","date":1760000100.25}"#, #"{"date":"soon"}"#, #"{"date":null}"#,
      #"{"REMOTE_ADDR":"192.0.2.1"}"#, #"{"requestContext":{}}"#, #"{"requestContext":"x"}"#,
      #"{"headers":{}}"#, #"{"timestamp":1760000100}"#, #"{"version":"2.0"}"#,
    ])
  func unmarked(line: String) {
    let refusal = refusal(line)
    #expect(refusal[0] == "unknown_provider")
    #expect(refusal[1].hasPrefix("no provider recognises this body; the line's members: "))
  }

  @Test(
    "Of several texts in one record each cut or unknown object is a reject of its own",
    arguments: [
      #"{"logEvents":[{"message":<1>},{"message":<2>}]}"#,
      #"{"Records":[{"body":<1>},{"body":<2>}]}"#,
      #"{"streams":[{"stream":{},"values":[["1760000100250000000",<1>],["1760000100",<2>]]}]}"#,
    ])
  func cutText(record: String) {
    let cut = String(Self.body.prefix(150))
    for (text, reason) in [
      (cut, "not_json"), ("2025-10-09T08:55:00Z INFO \(cut)", "not_json"),
      (#"{"a":1}"#, "unknown_provider"), ("{'a': 1}", nil), ("12", nil),
    ] {
      for texts in [[Self.body, text], [text, Self.body]] {
        let batch = normalise(
          record.replacing("<1>", with: quote(texts[0])).replacing("<2>", with: quote(texts[1])))
        #expect(batch.events.count == 1, "\(text)")
        #expect(batch.rejects.map(\.reason) == [reason].compactMap(\.self), "\(text)")
        #expect(batch.lines == 1 + batch.rejects.count, "\(text)")
      }
    }
  }

  @Test("A damaged body in an envelope is reported with what it lacks")
  func damagedInside() {
    let body = Body.renewal.without("time")
    #expect(refusal(#"{"body":\#(body.quoted)}"#) == ["missing_field", "time"])
  }
}
