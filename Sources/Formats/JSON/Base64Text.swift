/// Base 64 by RFC 4648, in the standard and the URL alphabet.
public enum Base64Text {
  /// Replaces the content of `out` by the decoded `bytes`.
  ///
  /// White space is ignored and the padding may be left out; both alphabets may be mixed.
  ///
  /// - Returns: whether `bytes` are valid; `out` is empty when they are not.
  public static func decode(_ bytes: UnsafeRawBufferPointer, into out: inout [UInt8]) -> Bool {
    out.removeAll(keepingCapacity: true)
    out.reserveCapacity(bytes.count / 4 * 3 + 2)
    var buffer: UInt32 = 0
    var count = 0
    var padding = 0
    for byte in bytes {
      switch byte {
      case 0x20, 0x09, 0x0a, 0x0d: continue
      case UInt8(ascii: "="): padding += 1
      default:
        guard padding == 0, let bits = sextet(byte) else { return refuse(&out) }
        buffer = buffer << 6 | bits
        count += 1
        if count % 4 == 0 { append(buffer, 3, to: &out) }
      }
    }
    let rest = count % 4
    guard rest != 1, padding == 0 || rest + padding == 4 && rest != 0 else { return refuse(&out) }
    if rest == 2 { append(buffer << 12, 1, to: &out) }
    if rest == 3 { append(buffer << 6, 2, to: &out) }
    return true
  }

  private static func refuse(_ out: inout [UInt8]) -> Bool {
    out.removeAll(keepingCapacity: true)
    return false
  }

  /// Appends the first `count` of the three bytes in `group`.
  private static func append(_ group: UInt32, _ count: Int, to out: inout [UInt8]) {
    out.append(UInt8(truncatingIfNeeded: group >> 16))
    if count > 1 { out.append(UInt8(truncatingIfNeeded: group >> 8)) }
    if count > 2 { out.append(UInt8(truncatingIfNeeded: group)) }
  }

  private static func sextet(_ byte: UInt8) -> UInt32? {
    switch byte {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(byte - UInt8(ascii: "A"))
    case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(byte - UInt8(ascii: "a")) + 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte - UInt8(ascii: "0")) + 52
    case UInt8(ascii: "+"), UInt8(ascii: "-"): 62
    case UInt8(ascii: "/"), UInt8(ascii: "_"): 63
    default: nil
    }
  }
}
