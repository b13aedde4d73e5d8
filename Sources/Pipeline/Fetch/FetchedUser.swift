// Fetches the current state of users from their provider, into one file per provider:
//
//     FetchedUser ─ FetchPass ─▶ HTTPRequest ⇄ HTTPClient ─▶ line ─▶ FetchJournal ─▶ snapshots
//
// The pass asks about many users at once, no faster than its TokenBucket, and retries after a
// Backoff. The journal stores every answer, so that an interrupted pass continues where it stopped.
import Domain

/// A user to ask a provider about.
struct FetchedUser: Hashable {
  /// The user's id at the provider.
  var id: String
  /// The app, if the provider requires one; otherwise empty.
  var app = ""
}

/// A user without a snapshot.
struct FailedUser: Equatable {
  var user: FetchedUser
  /// The status of the last response; nil without a response.
  var status: Int?
  /// The reason, without the body of a response.
  var reason: String
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
