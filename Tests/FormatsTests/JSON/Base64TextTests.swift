import Formats
import Foundation
import TestSupport
import Testing

private func decoded(_ text: String) -> [UInt8]? {
  Array(text.utf8).withUnsafeBytes { base64Content(of: $0) }
}

@Test(
  "The examples of RFC 4648 are decoded, with and without padding",
  arguments: [
    ("", ""), ("Zg==", "f"), ("Zm8=", "fo"), ("Zm9v", "foo"), ("Zm9vYg==", "foob"),
    ("Zm9vYmE=", "fooba"), ("Zm9vYmFy", "foobar"),
  ])
func decodesExample(text: String, expected: String) {
  #expect(decoded(text) == Array(expected.utf8))
  #expect(decoded(text.replacingOccurrences(of: "=", with: "")) == Array(expected.utf8))
}

@Test("Both alphabets are read, and line breaks ignored")
func decodesAlphabets() {
  #expect(decoded("+/+/") == [0xfb, 0xff, 0xbf])
  #expect(decoded("-_-_") == [0xfb, 0xff, 0xbf])
  #expect(decoded(" Zm9v\r\nYg=\n=\t") == Array("foob".utf8))
}

@Test(
  "Text that is not base64 is refused",
  arguments: [
    "Z", "Zm9vY", "Zg=", "Zg===", "Zm8==", "Zm9v=", "=", "====", "Zg==Zg==", "Z=g=", "Zm.v", "Zm9é",
    "Zm9v\u{0}",
  ])
func refusesBase64(text: String) {
  #expect(decoded(text) == nil)
}

@Test("Random bytes are decoded from Foundation's encoding")
func agreesWithFoundation() {
  var numbers = SeededNumbers(seed: 7)
  for count in 0..<200 {
    let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &numbers) }
    #expect(decoded(Data(bytes).base64EncodedString()) == bytes)
    #expect(decoded(Data(bytes).base64EncodedString(options: .lineLength64Characters)) == bytes)
  }
}
