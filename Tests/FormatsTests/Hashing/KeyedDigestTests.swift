import Formats
import Testing

@Suite("A keyed digest is HMAC-SHA256")
struct KeyedDigestTests {
  /// RFC 4231, test cases 2 and 6.
  @Test(
    "The published examples come out",
    arguments: [
      (
        Array("Jefe".utf8), "what do ya want for nothing?",
        "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
      ),
      (
        [UInt8](repeating: 0xaa, count: 131),
        "Test Using Larger Than Block-Size Key - Hash Key First",
        "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
      ),
    ])
  func examples(key: [UInt8], text: String, digest: String) {
    let told = Array(text.utf8).withUnsafeBytes { keyedSHA256(of: $0, key: key) }
    #expect(told == digest)
  }
}
