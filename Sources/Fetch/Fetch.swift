// Fetches the current state of users from their provider, into one file per provider:
//
//     FetchedUser ─ FetchPass ─▶ HTTPRequest ⇄ HTTPClient ─▶ line ─▶ FetchJournal ─▶ snapshots
//
// The pass asks about many users at once, no faster than its TokenBucket, and retries after a
// Backoff. The journal stores every answer, so that an interrupted pass continues where it stopped.
public import Domain

/// A user to ask a provider about.
public struct FetchedUser: Sendable, Hashable {
  /// The user's id at the provider.
  public var id: String
  /// The app, if the provider requires one; otherwise empty.
  public var app: String

  /// The user with this id.
  public init(id: String, app: String = "") {
    self.id = id
    self.app = app
  }
}

/// How to ask one provider.
public struct FetchRules: Sendable {
  /// The provider to ask.
  public var provider: Provider
  /// Scheme and host, before the path of each request.
  public var url: String
  /// The header `Authorization`; nil sends none.
  public var authorization: String?
  /// The records to request for each user.
  public var records: [FetchRequest.Record]
  /// Whether to use the provider's older API.
  public var isOlder: Bool
  /// Maximum requests per second.
  public var rate: Int
  /// Maximum concurrent requests.
  public var concurrency: Int

  /// Rules for requests to `provider`; none has a default.
  public init(
    _ provider: Provider, url: String, authorization: String?, records: [FetchRequest.Record],
    isOlder: Bool, rate: Int, concurrency: Int
  ) {
    self.provider = provider
    self.url = url
    self.authorization = authorization
    self.records = records
    self.isOlder = isOlder
    self.rate = rate
    self.concurrency = concurrency
  }
}

/// A user without a snapshot.
public struct FailedUser: Sendable, Equatable {
  /// The user.
  public var user: FetchedUser
  /// The status of the last response; nil without a response.
  public var status: Int?
  /// The reason, without the body of a response.
  public var reason: String
}

/// An answer about a user that needs further requests: another page of a list, or another list.
struct FetchedPart {
  static let status = 100
  /// When the first answer about the user arrived.
  let capturedAt: Instant
  /// The record that the list belongs to.
  let record: FetchRequest.Record
  /// The list, on one line.
  let list: [UInt8]
  /// The id after which the list continues; nil at its end.
  let next: String?
}
