import Testing
import Domain

@testable import Providers

@Suite("A delivery's secret is checked if one is configured")
struct AuthenticationTests {
  private let flobuk =
    #"{"transaction":"GPA.1","store":"GooglePlay","timestamp":1760000000,"data":{"status":0,"#
    + #""productId":"p","type":"Consumable","sandbox":false}}"#
  private let iaptic = #"{"type":"test","password":"right"}"#
  private let purple =
    #"{"type":"PRODUCT_PURCHASED","eventTimeMillis":1760000000123,"properties":"#
    + #"{"transactionId":"1","productId":"p"}}"#

  private func rules(_ provider: Provider, _ secrets: String...) -> NormaliserSettings {
    var rules = NormaliserSettings()
    rules.secrets = [provider: secrets.compactMap { Secret(Array($0.utf8)) }]
    return rules
  }

  /// Whether the line was accepted or skipped; otherwise its reason must be `unauthenticated`.
  private func isTaken(_ line: String, _ rules: NormaliserSettings) -> Bool {
    let batch = normalise(line, rules: rules)
    #expect(batch.lines == 1 && batch.rejects.allSatisfy { $0.reason == "unauthenticated" })
    #expect(batch.rejects.isEmpty || batch.events.isEmpty)
    return batch.rejects.isEmpty
  }

  private func around(_ body: String, _ headers: String) -> String {
    #"{"headers":\#(headers),"body":\#(quote(body))}"#
  }

  @Test("Each provider's own secret is checked in the header or the body")
  func places() {
    for (body, provider, header) in [
      (Body.renewal.line, Provider.qonversion, "Authorization"),
      (flobuk, .flobuk, "X-Auth-Key"), (purple, .purple, "Authorization"),
      (purple, .purple, "X-Auth-Key"),
    ] {
      let rules = rules(provider, "right", "older")
      for (value, expected) in [
        ("right", true), ("older", true), ("Basic right", true), ("bearer  right ", true),
        ("wrong", false), ("", false), ("righ", false), ("right2", false), ("RIGHT", false),
        ("wrong, right", true), ("Digest right", false),
      ] {
        let line = around(body, #"{"\#(header)":"\#(value)","X-App-Id":"a"}"#)
        #expect(isTaken(line, rules) == expected, "\(provider.name) \(value)")
        #expect(isTaken(line, NormaliserSettings()), "nothing is configured")
        #expect(isTaken(line, self.rules(.iaptic, "right")), "another provider's is configured")
      }
    }
    #expect(isTaken(iaptic, rules(.iaptic, "older", "right")))
    #expect(!isTaken(iaptic, rules(.iaptic, "older")))
    #expect(!isTaken(around(iaptic, "{}"), rules(.iaptic, "older")))
  }

  @Test("A line without a secret is accepted, because not every archive keeps headers")
  func absent() {
    for headers in ["{}", "null", "[]", #"{"X-Auth-Key":null}"#, #"{"authorization":[]}"#] {
      let line = around(Body.renewal.line, headers)
      #expect(isTaken(line, rules(.qonversion, "right")), "\(headers)")
    }
    #expect(isTaken(Body.renewal.line, rules(.qonversion, "right")))
    #expect(isTaken(flobuk, rules(.flobuk, "right")))
    #expect(isTaken(around(flobuk, #"{"Authorization":"proxy"}"#), rules(.flobuk, "right")))
    let cut = #"{"type":"purchases.updated","applicationUsername":"u","purchases":{}}"#
    #expect(isTaken(cut, rules(.iaptic, "right")), "the archive's writer cut the password out")
  }

  @Test("A secret that is not text does not count", arguments: ["1", "true", "{}", "[[1]]"])
  func kinds(value: String) {
    let line = around(Body.renewal.line, #"{"authorization":\#(value)}"#)
    #expect(!isTaken(line, rules(.qonversion, "1", "true")))
    let body = #"{"type":"test","password":\#(value)}"#
    #expect(!isTaken(body, rules(.iaptic, "1", "true")))
  }

  @Test("Headers are found in every form that archives use, in any case")
  func forms() {
    for value in ["right", "wrong"] {
      let body = Body.renewal.line
      let lines = [
        #"{"headers":{"AUTHORIZATION":["\#(value)"]},"body":\#(body)}"#,
        #"{"multiValueHeaders":{"authorization":["\#(value)"]},"body":\#(body)}"#,
        #"{"headers":[{"name":"Authorization","value":"\#(value)"}],"payload":\#(body)}"#,
        #"{"headers":[["Authorization","\#(value)"]],"payload":\#(body)}"#,
        #"{"rawHeaders":["Authorization","\#(value)"],"payload":\#(body)}"#,
        #"{"headers":"{\"authorization\":\"\#(value)\"}","raw_payload":\#(quote(body))}"#,
        #"{"data":{"headers":{"authorization-token":"\#(value)"},"body":\#(body)}}"#,
        #"{"headers":{"authorization":"\u00\#(value == "right" ? "72ight" : "77rong")"},"body":"#
          + "\(body)}",
        Body.renewal.with("authorization", "\"\(value)\"").line,
        #"{"Message":\#(quote(around(body, #"{"authorization":"\#(value)"}"#)))}"#,
      ]
      for line in lines {
        #expect(isTaken(line, rules(.qonversion, "right")) == (value == "right"), "\(line)")
      }
    }
  }

  @Test("The secret closest to the body counts, not a relay's")
  func nearest() {
    let inner = around(Body.renewal.line, #"{"authorization":"right"}"#)
    #expect(isTaken(around(inner, #"{"authorization":"relay"}"#), rules(.qonversion, "right")))
    #expect(!isTaken(around(inner, #"{"authorization":"relay"}"#), rules(.qonversion, "relay")))
    let bare = around(Body.renewal.line, "{}")
    #expect(!isTaken(around(bare, #"{"authorization":"relay"}"#), rules(.qonversion, "right")))
  }

  @Test("A damaged body is not parsed before its secret was checked")
  func damaged() {
    let line = around(
      Body.renewal.without("time").line, #"{"authorization":"wrong"}"#)
    #expect(normalise(line).rejects.map(\.reason) == ["missing_field"])
    #expect(!isTaken(line, rules(.qonversion, "right")))
  }

  @Test("A reject reports whose secret did not match, and no part of it")
  func detail() {
    let line = around(flobuk, #"{"X-Auth-Key":"canary"}"#)
    let batch = normalise(line, rules: rules(.flobuk, "canary-right"))
    #expect(
      batch.rejects.map(\.detail) == ["header: is not a secret configured for flobuk"])
  }

  @Test("Every byte is compared once, wherever the first difference is")
  func everyByte() {
    let length = 64
    for difference in [0, 1, length / 2, length - 1, length] {
      var other = [UInt8](repeating: 7, count: length)
      if difference < length { other[difference] ^= 1 }
      let left = CountedBytes([UInt8](repeating: 7, count: length))
      let right = CountedBytes(other)
      #expect(isEqualAtEveryByte(left, right) == (difference == length))
      #expect(left.reads.counts == [Int](repeating: 1, count: length))
      #expect(right.reads.counts == [Int](repeating: 1, count: length))
    }
    #expect(!isEqualAtEveryByte([1, 2], [1, 2, 3] as [UInt8]))
  }

  @Test("Secrets are compared by digests of equal length, and never printed")
  func digests() throws {
    let short = try #require(Secret([1]))
    let long = try #require(Secret([UInt8](repeating: 2, count: 4096)))
    #expect(short.digest.count == 64 && long.digest.count == 64)
    #expect(Secret([]) == nil && Secret(Array(" \r\n".utf8)) == nil)
    let secret = try #require(Secret(Array("hunter2".utf8)))
    var dumped = "\(secret) \(String(reflecting: secret)) \([secret]) \(["a": secret])"
    dump(secret, to: &dumped)
    #expect(!dumped.contains("hunter2") && !dumped.contains("f52fbd32"))
  }
}

/// Bytes that count how often each is read.
private struct CountedBytes: RandomAccessCollection {
  final class Reads { var counts: [Int] = [] }

  private let bytes: [UInt8]
  let reads = Reads()

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
    reads.counts = [Int](repeating: 0, count: bytes.count)
  }

  var startIndex: Int { 0 }
  var endIndex: Int { bytes.count }
  subscript(position: Int) -> UInt8 {
    reads.counts[position] += 1
    return bytes[position]
  }
}
