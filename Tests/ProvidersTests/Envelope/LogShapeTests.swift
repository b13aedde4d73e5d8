import Formats
import Foundation
import Testing
import Domain

@testable import Providers

@Suite("Webhooks in the records of logs, queues and exports")
struct LogShapeTests {
  private static let body = Body.renewal.line
  private static let quoted = Body.renewal.quoted
  private static let other = Body.of2020.line
  private static let base64 = Data(body.utf8).base64EncodedString()
  private static let logged = Data("\(iso) stdout F \(body)".utf8).base64EncodedString()
  /// The data that CloudWatch sends to Kinesis and Lambda.
  private static let packed = Data(
    gzipMember(
      of: Array(#"{"logEvents":[{"timestamp":1760000100250,"message":\#(quoted)}]}"#.utf8))
  ).base64EncodedString()
  private static let ms = Instant(milliseconds: 1_760_000_100_250)
  private static let at = Instant(seconds: 1_760_000_100)
  private static let iso = "2025-10-09T08:55:00.250Z"
  private static let item = #"{"headers":{},"body":\#(quoted),"isBase64Encoded":false}"#

  /// The body as nginx writes it to its log.
  private static let escaped = body.utf8.reduce(into: "") { text, byte in
    let isPlain = (0x20..<0x7f).contains(byte) && byte != 0x22 && byte != 0x5c
    let hex = String(byte, radix: 16, uppercase: true)
    text += isPlain ? String(UnicodeScalar(byte)) : "\\x" + (byte < 16 ? "0" : "") + hex
  }

  /// One line of each shape not in `EnvelopeTests`, and its receive time.
  static let shapes: [(name: String, line: String, received: Instant?)] = [
    (
      "SQS for Lambda",
      #"""
      {"Records":[{"messageId":"m","body":\#(quoted),"eventSource":"aws:sqs",\#
      "attributes":{"SentTimestamp":"1760000100250"}}]}
      """#, ms
    ),
    (
      "SQS as its command line prints it",
      #"{"Messages":[{"Body":\#(quoted),"Attributes":{"SentTimestamp":"1760000100250"}}]}"#, ms
    ),
    (
      "Kinesis",
      #"""
      {"Records":[{"kinesis":{"data":"\#(base64)","sequenceNumber":"4",\#
      "approximateArrivalTimestamp":1760000100.250},"eventSource":"aws:kinesis"}]}
      """#, ms
    ),
    ("Kinesis records", #"{"Records":[{"Data":"\#(base64)","PartitionKey":"1"}]}"#, nil),
    (
      "Firehose",
      #"""
      {"records":[{"recordId":"1","approximateArrivalTimestamp":1760000100250,\#
      "data":"\#(base64)"}]}
      """#, ms
    ),
    (
      "SNS for Lambda",
      #"""
      {"Records":[{"EventSource":"aws:sns",\#
      "Sns":{"Type":"Notification","Timestamp":"\#(iso)","Message":\#(quoted)}}]}
      """#, ms
    ),
    (
      "SNS in SQS for Lambda",
      #"""
      {"Records":[{"body":\#(quote(#"{"Timestamp":"\#(iso)","Message":\#(quoted)}"#))}]}
      """#, ms
    ),
    (
      "CloudWatch subscription",
      #"""
      {"messageType":"DATA_MESSAGE","logGroup":"/hook","logEvents":[\#
      {"id":"1","timestamp":1760000100000,"message":"START RequestId: 1"},\#
      {"id":"2","timestamp":1760000100250,"message":\#(quoted)}]}
      """#, ms
    ),
    (
      "CloudWatch events",
      #"{"events":[{"timestamp":1760000100250,"message":\#(quoted),"ingestionTime":1}]}"#, ms
    ),
    ("CloudWatch for Lambda", #"{"awslogs":{"data":"\#(packed)"}}"#, ms),
    ("CloudWatch in Kinesis", #"{"Records":[{"kinesis":{"data":"\#(packed)"}}]}"#, ms),
    ("CRI in Kinesis", #"{"Records":[{"kinesis":{"data":"\#(logged)"}}]}"#, ms),
    ("CloudWatch in Firehose", #"{"records":[{"recordId":"1","data":"\#(packed)"}]}"#, ms),
    ("CloudWatch export", "\(iso) \(body)", ms),
    (
      "Lambda's log in CloudWatch",
      #"{"timestamp":1760000100250,"message":\#(quote("\(iso) id INFO \(body)\n"))}"#, ms
    ),
    ("Docker", #"{"log":\#(quote(body + "\n")),"stream":"stdout","time":"\#(iso)"}"#, ms),
    (
      "Docker, a log with a prefix",
      #"{"log":\#(quote("INFO hook \(body)\n")),"stream":"stdout","time":"\#(iso)"}"#, ms
    ),
    (
      "Fluent Bit in Kubernetes",
      #"{"date":1760000100.25,"log":\#(quoted),"kubernetes":{"pod_name":"p"}}"#, ms
    ),
    (
      "Fluent Bit, merged log",
      #"{"date":1760000100.25,"log":"{}","log_processed":\#(body)}"#, ms
    ),
    ("CRI", "2025-10-09T08:55:00.250000000Z stdout F \(body)", ms),
    ("journald", #"{"MESSAGE":\#(quoted),"__REALTIME_TIMESTAMP":"1760000100250000"}"#, ms),
    ("syslog", "Oct  9 08:55:00 web hook[12]: \(body)", nil),
    ("Heroku", "2025-10-09T08:55:00.250+00:00 app[web.1]: \(body)", ms),
    ("level", "[2025-10-09 08:55:00+00] [info] \(body)", at),
    ("logfmt", #"level=info body="\#(quoted.dropFirst().dropLast())" status=200"#, nil),
    ("nginx, JSON", #"{"msec":"1760000100.250","request_body":\#(quoted)}"#, ms),
    ("nginx, JSON with its escapes", #"{"msec":1760000100.25,"request_body":"\#(escaped)"}"#, ms),
    ("nginx in Kubernetes", #"\#(iso) stdout F { "request_body":"\#(escaped)"}"#, ms),
    ("nginx, the body alone", escaped, nil),
    (
      "nginx, its escapes in quotes",
      #"192.0.2.1 - - [09/Oct/2025:08:55:00 +0000] "POST /hook HTTP/1.1" 200 "\#(escaped)" "-""#,
      nil
    ),
    ("nginx, its escapes", #"\#(iso) 200 \#(escaped)"#, ms),
    ("nginx, no escapes", #"\#(iso) "POST /hook HTTP/1.1" 200 \#(body) 0.003"#, ms),
    ("GCP, JSON", #"{"insertId":"1","jsonPayload":\#(body),"timestamp":"\#(iso)"}"#, ms),
    ("GCP, message", #"{"jsonPayload":{"message":\#(quoted)},"timestamp":"\#(iso)"}"#, ms),
    ("GCP, text", #"{"textPayload":\#(quoted),"timestamp":"\#(iso)"}"#, ms),
    ("Kafka", #"{"topic":"t","partition":0,"timestamp":1760000100250,"value":\#(quoted)}"#, ms),
    (
      "Kafka for Lambda",
      #"""
      {"eventSource":"aws:kafka","records":{"topic-0":[{"topic":"t","partition":0,\#
      "timestamp":1760000100250,"value":"\#(base64)"}]}}
      """#, ms
    ),
    ("Kafka, REST", #"[{"topic":"t","key":null,"value":\#(body),"offset":1}]"#, nil),
    (
      "Azure",
      #"{"records":[{"time":"\#(iso)","category":"c","properties":{"message":\#(quoted)}}]}"#, ms
    ),
    ("Event Hubs", #"{"SequenceNumber":1,"EnqueuedTimeUtc":"\#(iso)","Body":\#(quoted)}"#, ms),
    ("Event Grid", #"[{"id":"1","eventTime":"\#(iso)","data":\#(body)}]"#, ms),
    (
      "Cloudflare Logpush",
      #"""
      {"EventTimestampMs":1760000100250,"Logs":[{"Level":"log","Message":["hook",\#(quoted)]}],\#
      "Outcome":"ok","ScriptName":"s"}
      """#, ms
    ),
    (
      "Loki, push",
      #"""
      {"streams":[{"stream":{"app":"hook"},"values":[["1760000100250000000",\#(quoted)]]}]}
      """#, ms
    ),
    (
      "Loki, query",
      #"""
      {"status":"success","data":{"resultType":"streams",\#
      "result":[{"stream":{},"values":[["1760000100250000000",\#(quoted)]]}]}}
      """#, ms
    ),
    ("Loki, command line", #"{"labels":{},"line":\#(quoted),"timestamp":"\#(iso)"}"#, ms),
    (
      "webhook.site",
      #"{"uuid":"u","method":"POST","content":\#(quoted),"created_at":"2025-10-09 08:55:00"}"#, at
    ),
    ("webhook.site, export", #"{"data":[{"uuid":"u","content":\#(quoted)}],"total":1}"#, nil),
    ("dump, event.body", #"{"event":{"body":"\#(base64)","isBase64Encoded":true}}"#, nil),
    ("dump, request.body", #"{"request":{"method":"POST","body":\#(body)}}"#, nil),
    ("Elasticsearch", #"{"_source":{"@timestamp":"\#(iso)","message":\#(quoted)}}"#, ms),
    ("Splunk", #"{"result":{"_time":"\#(iso)","_raw":\#(quoted)}}"#, ms),
    ("pino", #"{"level":30,"time":1760000100250,"msg":\#(quoted)}"#, ms),
    ("array", "[\(body)]", nil),
    ("array in a prefix", "INFO [\(body)]", nil),
    ("sequence by RFC 7464", "\u{1e}\(body)", nil),
    (
      "Docker in CloudWatch in Kinesis",
      #"""
      {"Records":[{"kinesis":{"data":"\#(Data(
        #"{"logEvents":[{"message":\#(quote(#"{"log":\#(quoted)}"#))}]}"#.utf8
      ).base64EncodedString())"}}]}
      """#, nil
    ),
  ]

  @Test("A webhook is found in every shape, with its receive time", arguments: shapes)
  func shape(name: String, line: String, received: Instant?) throws {
    let plain = normalise(Self.body).events[0]
    let batch = normalise("\(line)\n\(Self.other)\n")
    #expect(batch.rejects.map(\.detail) == [] && batch.lines == 2 && batch.skipped.isEmpty)
    #expect(batch.events.count == 2 && batch.values == [0, 1])
    var event = try #require(batch.events.first)
    #expect(event.received == received && event.place.line == 1 && event.body == plain.body)
    (event.received, event.place) = (nil, plain.place)
    #expect(event == plain)
  }

  @Test("A record with several webhooks is one line with the events of all")
  func several() {
    let item = Self.item
    let lines = [
      "[\(Self.body),\(Self.other)]", #"{"Records":[\#(item),{"body":\#(Self.other)}]}"#,
      #"{"message":\#(quote("INFO [\(Self.body),\(Self.other)]"))}"#,
      #"{"records":{"a-0":[{"value":\#(Self.quoted)}],"a-1":[{"value":\#(Self.other)}]}}"#,
    ]
    for line in lines {
      let batch = normalise(line)
      #expect(batch.lines == 1 && batch.rejects.isEmpty && batch.values == [0, 0], "\(line)")
    }
    let skipped = normalise(#"[{"type":"test","password":null},\#(Self.body)]"#)
    #expect(skipped.lines == 1 && skipped.skipped.isEmpty && skipped.events.count == 1)
  }

  @Test("In a record with webhooks each refused one counts by itself, and text does not count")
  func refusedPart() {
    let damaged = Body.renewal.without("time").line
    let batch = normalise(#"{"Records":["text",\#(damaged),\#(Self.body),{"a":1}]}"#)
    #expect(batch.lines == 3 && batch.values == [0])
    #expect(batch.rejects.map(\.reason) == ["missing_field", "unknown_provider"])
    let start = Int64(#"{"Records":["text","#.utf8.count)
    #expect(batch.rejects[0].place.byteOffset == start)
    #expect(batch.events[0].place.byteOffset == start + Int64(damaged.utf8.count) + 1)
    let none = normalise(#"{"Records":["text",\#(damaged),{"a":1}]}"#)
    #expect(none.lines == 1 && none.rejects.map(\.reason) == ["missing_field"])
    #expect(none.rejects[0].place.byteOffset == 0)
  }

  @Test("A webhook with members named like those of logs is read as one webhook")
  func innocents() {
    let inner = Self.other
    for name in ["message", "data", "log", "value", "records", "content", "event", "line"] {
      for value in [inner, quote(inner), "[\(inner)]", "\"text\""] {
        let batch = normalise(Body.renewal.with(name, value).line)
        #expect(batch.lines == 1 && batch.rejects.isEmpty && batch.events.count == 1)
        #expect(batch.events.first?.time == Instant(seconds: 1_760_000_000))
      }
    }
  }

  @Test(
    "A line without a webhook is one reject, whatever its prefix",
    arguments: [
      "INFO started", #"INFO {"a":1}"#, #"2025-10-09T08:55:00Z stdout F {"a":1}"#,
      #"{"log":"started\n","stream":"stdout"}"#, #"{"Records":[{"a":1},7]}"#,
      #"{"request_body":"{\x22a\x22:1}"}"#, #"{"data":"H4sIAAAAAAAA"}"#, #"[1,"text"]"#,
      #"{"records":{"t-0":[{"value":7}],"t-1":[]}}"#,
    ])
  func without(line: String) {
    let batch = normalise("\(line)\n\(Self.body)")
    #expect(batch.lines == 2 && batch.rejects.count == 1 && batch.events.map(\.place.line) == [2])
  }

  @Test("A refusal lists the line's members, except names that may be an id")
  func named() {
    let known = refusal(#"{"hook":\#(Self.body),"at":1,"user_12345":2}"#)[1]
    #expect(
      known == "no provider recognises this body; the line's members: hook, at, (withheld)")
    #expect(refusal(#"[{"a":1},{"b":2}]"#)[1].hasSuffix("the line's members: a"))
    #expect(refusal(#"INFO {"hook":1}"#)[1].hasSuffix("the line's members: hook"))
    let many = (1...13).map { "\"m\($0)\":1" }.joined(separator: ",")
    #expect(refusal("{\(many)}")[1].hasSuffix("m11, m12, ..."))
    let wide = (1...12).map { "\"\(String(repeating: "w", count: 40)) \($0)\":0" }
    #expect(refusal("{\(wide.joined(separator: ","))}")[1].utf8.count <= 200)
    #expect(refusal(#"{"größe":0}"#)[1].hasSuffix("members: (withheld)"))
  }

  @Test("Configured members are read before the known ones")
  func ownNames() {
    var rules = NormaliserSettings()
    rules.envelope.body = ["hook", "message"]
    rules.envelope.received = ["at", "hook"]
    let line = #"{"payload":\#(Self.other),"hook":\#(Self.quoted),"time":1,"at":1760000100}"#
    let event = normalise(line, rules: rules).events.first
    #expect(event?.received == Self.at && event?.time == Instant(seconds: 1_760_000_000))
    #expect(normalise(#"{"message":\#(Self.body)}"#, rules: rules).events.count == 1)
    #expect(normalise(#"{"payload":\#(Self.body)}"#, rules: rules).events.count == 1)
    #expect(refusal(#"{"hook":\#(Self.quoted)}"#)[0] == "unknown_provider")
  }

  @Test("Headers are found under configured members")
  func ownHeaders() {
    var rules = NormaliserSettings()
    rules.secrets = [.qonversion: [Secret(Array("right".utf8))].compactMap(\.self)]
    rules.envelope.headers = ["sent"]
    let line = #"{"sent":{"Authorization":"Basic wrong"},"body":\#(Self.body)}"#
    #expect(normalise(line, rules: rules).rejects.map(\.reason) == [unauthenticated])
    rules.envelope.headers = []
    #expect(normalise(line, rules: rules).events.count == 1)
  }

  @Test("Endlessly nested and repeated lines are refused in bounded time")
  func hostile() {
    var line = #"{"a":1}"#
    for _ in 0..<20 { line = #"{"message":[\#(line),\#(line.count < 4_000 ? line : "0")]}"# }
    #expect(refusal(line)[0] == "unknown_provider")
    let escapes = String(repeating: #"{\x5Cx22"#, count: 10_000)
    #expect(normalise(escapes).rejects.count == 1)
  }
}
