import Formats
import Foundation
import Providers
import Domain

/// A body in any envelope gives the same events as alone, or none below three layers.
func feedEnvelope(_ bytes: UnsafeRawBufferPointer) {
  feedBodies(bytes)
  var tape = JSONTape()
  guard let end = end(of: bytes, on: &tape), tape.kind(0) == .object, tape.count(0) > 0 else {
    return
  }
  let start = tape.span(0).lowerBound
  let body = UnsafeRawBufferPointer(rebasing: bytes[start..<end])
  guard !body.contains(UInt8(ascii: "\n")) else { return }
  var normaliser = Normaliser(rules: NormaliserSettings())
  let alone = normalised(body, by: &normaliser)
  let reported = contents(alone)
  let openers = ["Message", "message", "body", "payload", "detail", "event", "record"]
  let mayBeOpened = openers.contains { tape.member(0, $0) != nil }
  for wrapped in envelopes(of: body.text) {
    let batch = withBytes(of: wrapped) { normalised($0, by: &normaliser) }
    claim(batch.lines == 1, "an envelope is one value: \(wrapped)")
    guard !reported.isEmpty else { continue }
    let found = contents(batch)
    // An envelope that is too deep to be opened is read as the body it resembles.
    let isTooDeep = batch.rejects.contains {
      mayBeOpened || ["unknown_provider", "not_json"].contains($0.reason)
    }
    claim(
      found == reported || found.isEmpty && isTooDeep, "the envelope holds its body: \(wrapped)")
  }
}

private func envelopes(of body: String) -> [String] {
  let text = quoted(body)
  let base64 = Data(body.utf8).base64EncodedString()
  return [
    #"{"body":\#(body)}"#,
    #"{"body":\#(text)}"#,
    #"{"isBase64Encoded":true,"body":"\#(base64)"}"#,
    #"{"data":{"body":\#(body)}}"#,
    #"{"message":{"data":"\#(base64)"}}"#,
    #"{"message":\#(quoted(#"{"payload":\#(body)}"#))}"#,
    text,
  ]
}
