internal import CCrypto

/// The HMAC-SHA256 (RFC 2104) of `bytes` under `key`, as 64 lower-case hex digits.
public func keyedSHA256(of bytes: UnsafeRawBufferPointer, key: [UInt8]) -> String {
  var sum = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
  var length: UInt32 = 0
  let done = HMAC(
    EVP_sha256(), key, Int32(key.count), bytes.baseAddress?.assumingMemoryBound(to: UInt8.self),
    bytes.count, &sum, &length)
  precondition(done != nil && length == 32, "libcrypto offers HMAC with SHA-256")
  return hexadecimal(sum.prefix(32))
}
