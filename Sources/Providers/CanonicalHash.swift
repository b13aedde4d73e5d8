import Formats
import Domain

extension JSONTape {
  /// A fingerprint of what `node` says, whatever the order of its members, its white space and its
  /// escapes.
  func canonicalFingerprint(_ node: JSONNode) -> Int64 {
    var fingerprint = Fingerprint(seed: 3 + UInt64(kind(node).rawValue))
    switch kind(node) {
    case .object: fingerprint.combine(membersFingerprint(node))
    case .array:
      for element in children(of: node) {
        fingerprint.combine(UInt64(bitPattern: canonicalFingerprint(element)))
      }
    case .string, .number, .true, .false, .null: fingerprint.combine(bytes(node))
    }
    return fingerprint.value
  }

  /// The sum over all members, which is the same in every order.
  private func membersFingerprint(_ object: JSONNode) -> UInt64 {
    var sum: UInt64 = 0
    for key in children(of: object) {
      var member = Fingerprint()
      member.combine(bytes(key))
      member.combine(UInt64(bitPattern: canonicalFingerprint(value(ofKey: key))))
      sum &+= UInt64(bitPattern: member.value)
    }
    return sum
  }
}
