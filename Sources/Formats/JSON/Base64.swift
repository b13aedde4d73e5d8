/// The content of base64 text by RFC 4648, in the standard or URL alphabet; nil if `text` is not
/// base64.
///
/// White space is ignored and the padding may be left out; both alphabets may be mixed.
public func base64Content(of text: UnsafeRawBufferPointer) -> [UInt8]? {
  var content: [UInt8] = []
  content.reserveCapacity(text.count / 4 * 3 + 2)
  var (digits, padding) = (0, 0)
  // The last bits read; the lowest `open` bits are not in a byte yet.
  var (bits, open): (UInt32, UInt32) = (0, 0)
  for byte in text {
    switch byte {
    case 0x20, 0x09, 0x0a, 0x0d: continue
    case UInt8(ascii: "="): padding += 1
    default:
      guard padding == 0, let sextet = sextet(byte) else { return nil }
      digits += 1
      (bits, open) = (bits << 6 | sextet, open + 6)
      guard open >= 8 else { continue }
      open -= 8
      content.append(UInt8(truncatingIfNeeded: bits >> open))
    }
  }
  let rest = digits % 4
  let isPadded = padding == 0 || rest + padding == 4 && rest != 0
  return rest != 1 && isPadded ? content : nil
}

private func sextet(_ byte: UInt8) -> UInt32? {
  switch byte {
  case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(byte - UInt8(ascii: "A"))
  case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(byte - UInt8(ascii: "a")) + 26
  case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte - UInt8(ascii: "0")) + 52
  case UInt8(ascii: "+"), UInt8(ascii: "-"): 62
  case UInt8(ascii: "/"), UInt8(ascii: "_"): 63
  default: nil
  }
}
