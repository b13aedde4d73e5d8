// Users → what their provider has of them now, one file for each provider:
//
//     FetchedUser ─ FetchPass ─▶ HTTPRequest ⇄ HTTPClient ─▶ line ─▶ FetchJournal ─▶ snapshots
//
// The pass asks many users at once, no faster than its TokenBucket, and again after a Backoff. The
// journal remembers every answer, so that a pass that is broken off goes on where it was.
public import Domain

/// A user whom a provider is asked about.
public struct FetchedUser: Sendable, Hashable {
  /// The id as the provider has it.
  public var id: String
  /// The app, where the provider must be given one; else empty.
  public var app: String

  /// The user `id`.
  public init(id: String, app: String = "") {
    self.id = id
    self.app = app
  }
}

/// How one provider is asked.
public struct FetchRules: Sendable {
  /// Who is asked.
  public var provider: Provider
  /// What stands before the path of each question: scheme and host.
  public var url: String
  /// The header `Authorization`; nil sends none.
  public var authorization: String?
  /// What is asked about each user.
  public var records: [FetchRequest.Record]
  /// Whether the provider's older API is asked.
  public var isOlder = false
  /// Questions a second at most.
  public var rate: Int
  /// Questions under way at most.
  public var concurrency: Int
  /// How often a question is asked before its user is given up.
  public var attemptsMax = 8

  /// Asks `provider` at `url`, `rate` times a second and `concurrency` at once.
  public init(
    _ provider: Provider, url: String, authorization: String?, records: [FetchRequest.Record],
    rate: Int, concurrency: Int
  ) {
    self.provider = provider
    self.url = url
    self.authorization = authorization
    self.records = records
    self.rate = rate
    self.concurrency = concurrency
  }
}

/// A user of whom there is no snapshot.
public struct FailedUser: Sendable, Equatable {
  /// Who it is.
  public var user: FetchedUser
  /// The status of the last response; nil without one.
  public var status: Int?
  /// Why, without the body of a response.
  public var reason: String
}

/// An answer about a user of whom more is wanted: another page of a list, or another list.
struct FetchedPart {
  static let status = "100"
  /// When the first answer about the user came.
  let capturedAt: Instant
  /// What the list is of.
  let record: FetchRequest.Record
  /// The list, on one line.
  let list: [UInt8]
  /// The id behind which the list goes on; nil where it ends.
  let next: String?
}
