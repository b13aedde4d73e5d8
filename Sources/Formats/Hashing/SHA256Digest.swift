// SHA-256 (FIPS 180-4) by the system's libcrypto, which uses processor instructions for it and adds
// nothing to the build. Only this module uses libcrypto.

internal import CCrypto
internal import Domain

/// The SHA-256 of bytes added in pieces; only one task may use it.
public final class SHA256Digest {
  private let context: OpaquePointer

  /// A digest without bytes.
  public init() {
    guard let context = EVP_MD_CTX_new(), EVP_DigestInit_ex(context, EVP_sha256(), nil) == 1 else {
      preconditionFailure("libcrypto offers SHA-256 and has memory for its state")
    }
    self.context = context
  }

  /// Adds `bytes`.
  public func update(_ bytes: UnsafeRawBufferPointer) {
    let done = EVP_DigestUpdate(context, bytes.baseAddress, bytes.count)
    precondition(done == 1, "a digest takes bytes of any length")
  }

  /// The digest of all bytes added, as 64 lower-case hex digits; nothing can be added
  /// after it.
  public func finish() -> String {
    var sum = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
    var length: UInt32 = 0
    let done = EVP_DigestFinal_ex(context, &sum, &length)
    precondition(done == 1 && length == 32, "SHA-256 has 32 bytes")
    return sum.withUnsafeBytes { bytes in
      stride(from: 0, to: 32, by: 8)
        .map { UInt64(bigEndian: bytes.load(fromByteOffset: $0, as: UInt64.self)).hexadecimal }
        .joined()
    }
  }

  deinit { EVP_MD_CTX_free(context) }
}

/// The SHA-256 of `bytes` as 64 lower-case hex digits.
public func sha256(of bytes: [UInt8]) -> String {
  let digest = SHA256Digest()
  bytes.withUnsafeBytes { digest.update($0) }
  return digest.finish()
}
