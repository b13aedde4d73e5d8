import Formats
import Testing

/// Source: FIPS 180-4 examples published by NIST ("SHA256.pdf", "SHA2_Additional.pdf").
private let vectors: [(message: [UInt8], digest: String)] = [
  ([], "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
  (Array("abc".utf8), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
  (
    Array("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq".utf8),
    "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
  ),
  (
    [UInt8](repeating: UInt8(ascii: "a"), count: 1_000_000),
    "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"
  ),
]

@Test("Known messages have their known digests", arguments: vectors.indices)
func knownVectors(index: Int) {
  #expect(sha256(of: vectors[index].message) == vectors[index].digest)
}

@Test("A message in chunks has the digest of the whole")
func pieces() {
  let digest = SHA256Digest()
  for piece in ["a", "", "bc"] {
    Array(piece.utf8).withUnsafeBytes { digest.update($0) }
  }
  #expect(digest.finish() == vectors[1].digest)
}
