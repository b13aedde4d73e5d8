import Foundation
import Testing
import Domain
import Formats

@testable import Providers

@Suite("Lines")
struct NormaliserTests {
  private let body = Body.renewal.line

  @Test("Every value has its line, offset and number")
  func places() {
    let other = Body.of2020.line
    let batch = normalise(
      "\u{FEFF}\(body)\r\n\n  \(other)\(body)\r\n\n\u{FEFF}{}\n\(other)", firstLine: 11,
      firstOffset: 1_000)
    #expect(batch.lines == 5 && batch.events.count == 4 && batch.rejects.isEmpty)
    #expect(batch.skipped == ["registration_probe": 1])
    #expect(batch.values == [0, 1, 2, 4] && batch.texts.count == 4)
    #expect(batch.events.map(\.place.line) == [11, 13, 13, 16])
    let first = Int64(body.utf8.count)
    let second = Int64(other.utf8.count)
    let start = 1_003 + first + 2 + 1 + 2
    #expect(
      batch.events.map(\.place.byteOffset)
        == [1_003, start, start + second, start + second + first + 2 + 1 + 3 + 3])
  }

  @Test("Empty input has no lines, rejects or skipped values")
  func empty() {
    for text in ["", "\n", "\r\n \t\n\n", "\u{FEFF}"] {
      let batch = normalise(text)
      #expect(batch.lines == 0 && batch.rejects.isEmpty && batch.skipped.isEmpty)
    }
  }

  @Test("A valid body without purchase and user is rejected, not lost")
  func nobody() {
    let line = """
      {"type":"purchases.updated","notification":{"id":"n","date":"2025-10-10T09:00:00Z",\
      "purchaseId":"apple:1"},"purchases":{}}
      """
    for text in [line, #"{"body":\#(line)}"#] {
      let batch = normalise(text)
      #expect(batch.lines == 1 && batch.events.isEmpty && batch.skipped.isEmpty)
      #expect(batch.rejects.map(\.reason) == ["missing_field"])
      #expect(batch.rejects.map(\.detail) == ["the body contains neither a purchase nor a user"])
    }
  }

  @Test("A value that was refused for its secret is refused again at its offset, and no other")
  func refused() {
    var rules = NormaliserSettings()
    rules.refused = [Int64(body.utf8.count) + 1: "header: is none", 3: "no value begins here"]
    let batch = normalise("\(body)\n\(body)\n\(body)", rules: rules)
    #expect(batch.lines == 3 && batch.events.map(\.place.line) == [1, 3])
    #expect(batch.rejects.map(\.reason) == [unauthenticated])
    #expect(batch.rejects.map(\.detail) == ["header: is none"])
    #expect(batch.rejects.map(\.place.line) == [2])
  }

  @Test("A broken value does not affect the values after it")
  func broken() {
    let batch = normalise("\(body){nonsense}\(body)xyz\(body){\"time\":1L}]\(body)\n")
    #expect(batch.lines == 8 && batch.events.count == 4)
    #expect(batch.rejects.map(\.reason) == Array(repeating: "not_json", count: 4))
    #expect(batch.rejects[0].place.byteOffset == Int64(body.utf8.count))
    #expect(batch.rejects[0].detail.hasSuffix(" at byte 1 of the value"))
  }

  @Test("The text of a log behind a value is ignored, unless it can be part of another value")
  func textBehind() {
    let batch = normalise("\(body) 200 0.003\n\(body)\t- done\r\n\(body)xyz\(body)\n")
    #expect(batch.events.count == 4 && batch.lines == 5 && batch.rejects.count == 1)
    for rest in [" 200]", #""text""#, #" "a":1}"#, #"ar","price":5,"b":7"#, "\0\0"] {
      let batch = normalise(body + rest)
      #expect(batch.events.count == 1 && batch.rejects.count == 1, "\(rest)")
    }
  }

  @Test("A truncated value loses the rest of its line, and nothing more")
  func cutOff() {
    let cut = String(body.dropLast(10))
    let batch = normalise("\(cut)\(body)\n\(body)\n[1,\n")
    #expect(batch.lines == 3 && batch.events.map(\.place.line) == [2])
    #expect(batch.rejects.map(\.reason) == ["not_json", "not_json"])
    #expect(batch.rejects.map(\.place.line) == [1, 3])
  }

  @Test("Neither half of a torn value is read as a body, and each counts once")
  func torn() {
    let bare = Body.renewal.without("app_id").line
    let whole = #"{"receivedAt":"2026-01-01T00:00:00Z","headers":{"a":["b",{}]},"body":\#(bare)}"#
    for tear in whole.indices.dropFirst() {
      let rest = whole[tear...]
      // A complete value cannot be distinguished from a body.
      guard !rest.hasPrefix("{"), !rest.hasPrefix("[") else { continue }
      let batch = normalise("\(whole[..<tear])\n\(rest)\n\(rest)\(body)")
      #expect(batch.rejects.map(\.place.line) == [1, 2, 3], "\(rest)")
      // A quote may begin a text that includes the value after it.
      let isRead = !rest.hasPrefix("\"") || !batch.events.isEmpty
      #expect(batch.events.map(\.place.line) == (isRead ? [3] : []), "\(rest)")
    }
  }

  @Test("A text that contains a body must be alone on its line")
  func textAlone() {
    let text = Body.renewal.with("device_id", #""}{""#).quoted
    #expect(normalise("\(text) \r\n\(body)\(text)\u{FEFF}\n").events.count == 3)
    let other = Body.renewal.quoted
    let longLine = normalise("\(text):\(body)\n\(other)\(other)\n")
    #expect(longLine.events.isEmpty && longLine.rejects.map(\.place.line) == [1, 2])
    #expect(longLine.rejects[0].detail.contains("a value other than an object continues at byte"))
  }

  @Test(
    "A value that is not an object is refused", arguments: ["7", "null", "[7]", "[1760000100]"])
  func notAnObject(text: String) {
    #expect(refusal(text) == ["not_an_object", "the value is not a JSON object"])
  }

  @Test("A reject reports too deep nesting, even inside an envelope")
  func tooDeep() {
    let deep = #"{"a":"# + String(repeating: "[", count: 64) + String(repeating: "]", count: 64)
    let escaped = deep.replacingOccurrences(of: "\"", with: "\\\"")
    let batch = normalise(deep + "}\n" + #"{"body":"\#(escaped)}"}"#)
    #expect(batch.rejects.map(\.reason) == ["not_json", "not_json"])
    #expect(
      batch.rejects.map(\.detail) == [
        "values are nested more than 64 deep at byte 68 of the value",
        "the text in the envelope: values are nested more than 64 deep at byte 68",
      ])
  }

  @Test("A value that is too long to be read is counted")
  func oversized() {
    var batch = EventBatch()
    var normaliser = Normaliser(rules: NormaliserSettings())
    normaliser.add(.oversizedValue(line: 7, byteOffset: 99), to: &batch)
    #expect(batch.lines == 1 && batch.rejects.count == 1)
    #expect(batch.rejects[0].reason == "value_too_long")
    #expect(batch.rejects[0].place == Provenance(line: 7, byteOffset: 99))
  }

  @Test("Cutting an archive anywhere between values gives the same events")
  func chunks() {
    let pieces = [
      "\(body)\n", body, "\(Body.of2020.line)\n{bad\n", "{bad}", "\(Body.upgrade.line)", "\n",
    ]
    let whole = normalise(pieces.joined())
    for cut in 1..<pieces.count {
      var batch = EventBatch()
      var normaliser = Normaliser(rules: NormaliserSettings())
      var line: Int64 = 1
      var offset: Int64 = 0
      for part in [pieces[..<cut].joined(), pieces[cut...].joined()] {
        let bytes = Array(part.utf8)
        bytes.withUnsafeBytes {
          normaliser.add(.lines($0, firstLine: line, firstOffset: offset), to: &batch)
        }
        line += Int64(bytes.count { $0 == UInt8(ascii: "\n") })
        offset += Int64(bytes.count)
      }
      #expect(batch.events == whole.events && batch.rejects == whole.rejects)
      #expect(batch.values == whole.values && batch.lines == whole.lines && batch.lines == 6)
    }
  }

  @Test("Lines of every length end correctly")
  func lineEnds() {
    for padding in 0..<20 {
      let spaces = String(repeating: " ", count: padding)
      let batch = normalise("\(spaces){}\(spaces)\n\(spaces)7\n{\(spaces)\n\(body)")
      #expect(batch.rejects.map(\.place.line) == [2, 3] && batch.events.map(\.place.line) == [4])
    }
  }

  @Test("Values = events + skipped + rejected, whatever the lines hold")
  func account() {
    let reminder = Body.renewal.with("event_name", "\"trial_still_active\"").line
    let batch = normalise(
      [body, "{}", reminder, "7", "{", "{\"a\":1}", Body.renewal.without("time").line, body]
        .joined(separator: "\n"))
    #expect(batch.lines == 8 && batch.events.count == 2 && batch.rejects.count == 4)
    #expect(batch.skipped == ["registration_probe": 1, "trial_still_active": 1])
  }
}
