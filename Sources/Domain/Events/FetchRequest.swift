/// What to ask a provider's own interface about one user, so that a break can be explained.
public struct FetchRequest: Sendable, Equatable {
  /// What the answer must contain.
  public enum Record: String, Sendable {
    /// The store's transactions, for money.
    case purchases
    /// What the user can use now and until when.
    case entitlements
  }

  /// `GET`; empty when there is nothing to call.
  public var method = ""
  /// Without scheme; always https.
  public var host = ""
  /// From the first slash, with ids encoded for a URL.
  public var path = ""
  /// How to authorise the call, and what to do when there is none.
  public var note: String

  /// The question about a record of `user`, to the provider's older API where it has one if
  /// `isOlder`.
  public init(
    _ record: Record, of user: String, app: String, at provider: Provider, isOlder: Bool = false
  ) {
    let interface = provider.interface
    note = interface.note
    guard !interface.host.isEmpty else { return }
    guard !user.isEmpty else {
      note = "no user id is known: look the subscription up in the provider's dashboard"
      return
    }
    guard !(interface.asksByApp && app.isEmpty) else {
      note = "no app id is known: archive the deliveries' headers, too"
      return
    }
    method = "GET"
    host = interface.host
    path = (isOlder ? interface.olderPath ?? interface.path : interface.path)
      .replacing("{record}", with: record.rawValue)
      .replacing("{app_id}", with: Self.encoded(app))
      .replacing("{user_id}", with: Self.encoded(user))
  }

  /// `text` with everything but RFC 3986's unreserved characters as `%` and two digits.
  public static func encoded(_ text: String) -> String {
    let unreserved = "-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".utf8
    return text.utf8.map { byte in
      unreserved.contains(byte)
        ? String(Unicode.Scalar(byte))
        : "%" + String(byte, radix: 16, uppercase: true).zeroPadded(to: 2)
    }.joined()
  }
}

extension BreakCode {
  /// What to fetch about a break of this kind; nil when both sides are known already.
  public var remedy: FetchRequest.Record? {
    switch self {
    case .missedStart, .missedConversion, .missedRenewal, .missedPurchase, .missedRefund,
      .eventsAbsent:
      .purchases
    case .missedCancel, .missedExpiration, .missedBillingIssue, .missedProductChange,
      .expiryMismatch, .productMismatch, .renewStateMismatch, .aheadOfSnapshot, .snapshotAbsent:
      .entitlements
    default: nil
    }
  }
}
