/// A request to a provider's API about one user that helps to explain a break.
public struct FetchRequest: Sendable, Equatable {
  /// What the response must contain.
  public enum Record: String, Sendable {
    /// The store's transactions, with money.
    case purchases
    /// What the user can use now, and until when.
    case entitlements
  }

  /// `GET`; empty when there is no API to call.
  public var method: String { host.isEmpty ? "" : "GET" }
  /// The host without scheme; the scheme is always https.
  public var host = ""
  /// The path from the first slash, with ids percent-encoded.
  public var path = ""
  /// How to authorise the request, or what to do when there is no API.
  public var note: String

  /// A request for a record of `user`; uses the provider's older API if `isOlder` and there is one.
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
    host = interface.host
    path = (isOlder ? interface.olderPath ?? interface.path : interface.path)
      .replacing("{record}", with: record.rawValue)
      .replacing("{app_id}", with: Self.encoded(app))
      .replacing("{user_id}", with: Self.encoded(user))
  }

  /// `text` percent-encoded except for RFC 3986's unreserved characters.
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
  /// The record to fetch for a break of this kind; nil when both sides are known already.
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
