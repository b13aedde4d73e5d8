import Formats
import Domain

/// Purple's event types and what they mean.
///
/// Source: docs.purplepublish.com, Receipt Events. Stored copies of that page spell the types in
/// several ways, so that only their letters count, and the American `CANCELED` is the British one.
struct PurpleTypes {
  private let known = KeyTable(Self.all.map { $0.name.filter { $0 != "_" } })

  /// The meaning of the type, and the name to keep: the page's own where it knows the type, else
  /// in capitals with `_` for spaces, dots and hyphens.
  func meaning(of type: UnsafeRawBufferPointer) -> (name: String, meaning: Meaning) {
    let capitals = type.map(raised)
    var letters = capitals.filter(isLetter)
    let american = Array("CANCELED".utf8)
    for start in letters.indices where letters[start...].starts(with: american) {
      letters.insert(UInt8(ascii: "L"), at: start + 5)
      break
    }
    if let index = letters.withUnsafeBytes(known.index(of:)) { return Self.all[index] }
    let name = capitals.map { " .-".utf8.contains($0) ? UInt8(ascii: "_") : $0 }
    return (String(decoding: name, as: UTF8.self), .event(.other))
  }

  private func isLetter(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(lowered(byte))
  }

  private static let all: [(name: String, meaning: Meaning)] = [
    ("PRODUCT_PURCHASED", .event(.purchased)),
    ("PRODUCT_CANCELLED", .event(.purchaseRefunded)),
    ("SUBSCRIPTION_PURCHASED", .event(.started)),
    ("SUBSCRIPTION_UPGRADED", .event(.upgraded)),
    ("SUBSCRIPTION_DOWNGRADED", .event(.downgraded)),
    ("SUBSCRIPTION_RESUBSCRIBED", .event(.resubscribed)),
    ("SUBSCRIPTION_RESUBSCRIBED_OTHER", .event(.resubscribed)),
    ("SUBSCRIPTION_CANCELLED", .event(.canceled)),
    ("SUBSCRIPTION_CANCELLED_INVOLUNTARY", .event(.endedInvoluntarily)),
    ("SUBSCRIPTION_RENEWED", .event(.renewed)),
    ("SUBSCRIPTION_RENEWAL_FAILED", .event(.graceEntered)),
    ("SUBSCRIPTION_RECOVERED", .event(.recovered)),
    ("SUBSCRIPTION_EXPIRED", .event(.expired)),
    ("ACCOUNT_ASSIGNMENTS_CHANGED", .skipped(.accountAssignmentsChanged)),
  ]
}
