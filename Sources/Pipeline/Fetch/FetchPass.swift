import Domain
import HTTP
import Providers

/// How to ask one provider.
struct FetchRules {
  let provider: Provider
  /// Scheme and host, before the path of each request.
  let url: String
  /// The header `Authorization`; nil sends none.
  let authorization: String?
  let api: FetchSettings.API
  /// Maximum requests per second.
  let rate: Int
  /// Maximum concurrent requests.
  let concurrency: Int

  /// The records to request for each user.
  var records: [FetchRequest.Record] { api.records(of: provider) }
}

/// Asks one provider about its users, and retries until each has an answer or is given up.
struct FetchPass {
  private let rules: FetchRules
  private let client: HTTPClient
  private let journal: FetchJournal
  private let clock: () -> Instant
  private let stop: () -> Int32
  /// Limit of users to be asked again later; at this limit no new users are started.
  private static let waitingMax = 1000
  /// Attempts per request before the user is given up.
  private static let attemptsMax = 8
  /// Users given up in a row after which the provider counts as not answering.
  private static let failuresMax = 20

  private var bucket: TokenBucket
  private var responses = SnapshotResponses()
  private var active: [Int: UserQueries] = [:]
  private var waiting: [UserQueries] = []
  private var number = 0
  private var isAtEnd = false
  private var failuresInARow = 0
  /// Users who were given up.
  private(set) var failed: [FailedUser] = []

  /// A pass that stores answers in `journal`; `stop` returns the signal that asked to stop, or 0.
  init(
    _ rules: FetchRules, by client: HTTPClient, into journal: FetchJournal,
    clock: @escaping () -> Instant, stop: @escaping () -> Int32
  ) {
    self.rules = rules
    self.client = client
    self.journal = journal
    self.clock = clock
    self.stop = stop
    bucket = TokenBucket(rate: rules.rate, at: clock())
  }

  /// Asks about each user that `next` returns, in order, unless the journal has an answer.
  ///
  /// - Throws: `SubledgerError` of kind `permission` when the provider refuses the key, `tryAgain`
  ///   when it does not answer at all, and whatever `next` throws; the journal keeps the answers.
  mutating func run(
    _ next: () throws -> FetchedUser?, progress: (Int) -> Void
  ) throws {
    while true {
      try SubledgerError.check(stop, "fetching from \(rules.provider.name)")
      var now = clock()
      while active.count < rules.concurrency {
        guard let queries = try ready(at: now, next) else { break }
        guard bucket.take(at: now) else {
          waiting.append(queries)
          break
        }
        ask(queries)
      }
      if active.isEmpty, waiting.isEmpty, isAtEnd { return }
      let isFull = active.count == rules.concurrency
      let ended = client.finished(within: isFull ? 100 : 10)
      now = clock()
      for (number, response) in ended {
        guard let queries = active.removeValue(forKey: number) else { continue }
        switch response {
        case .success(let response): try take(response, to: queries, at: now)
        case .failure(let failure) where failure.isOfServer:
          throw SubledgerError(
            .configuration, "cannot fetch from \(rules.provider.name): \(failure.reason)",
            hint: "check the address, `fetch.authorities` and the variable https_proxy; what was "
              + "fetched is kept")
        case .failure(let failure):
          try retry(queries, nil, failure.reason, at: now, isLast: !failure.isTransient)
        }
      }
      if !ended.isEmpty { progress(journal.count) }
    }
  }

  /// The next user to ask: one whose wait is over, otherwise a new one.
  private mutating func ready(
    at now: Instant, _ next: () throws -> FetchedUser?
  ) throws -> UserQueries? {
    if let index = waiting.firstIndex(where: { Backoff.isOver($0.readyAt, at: now) }) {
      return waiting.remove(at: index)
    }
    guard waiting.count < Self.waitingMax else { return nil }
    while !isAtEnd {
      guard let user = try next() else {
        isAtEnd = true
        break
      }
      guard !journal.holds(user) else { continue }
      var queries = UserQueries(user: user, readyAt: now)
      let isTaken = journal.parts(of: user, at: now).allSatisfy { take($0, to: &queries) }
      let isOpen = isTaken && queries.lines.count < rules.records.count
      return isOpen ? queries : UserQueries(user: user, readyAt: now)
    }
    return nil
  }

  private mutating func ask(_ queries: UserQueries) {
    let record = rules.records[queries.lines.count]
    let request = FetchRequest(
      record, of: queries.user.id, app: queries.user.app, at: rules.provider,
      isOlder: rules.api == .v3)
    var url = rules.url + request.path
    if let last = queries.last {
      url += "?limit=100&starting_after=\(FetchRequest.encoded(last))"
    }
    var headers = [(name: "Accept", value: "application/json")]
    if let text = rules.authorization { headers.append((name: "Authorization", value: text)) }
    number += 1
    active[number] = queries
    client.start(HTTPRequest(request.method, url, headers: headers), as: number)
  }

  private mutating func take(
    _ response: HTTPResponse, to queries: UserQueries, at now: Instant
  ) throws {
    let status = response.status
    switch status {
    case 200:
      guard let page = responses.page(response.body, of: rules.provider) else {
        return try retry(queries, status, "the answer is an incomplete list", at: now)
      }
      try take(page, to: queries, at: now)
    case 400, 404, 410, 422:
      // The provider has answered; it refuses an id that it cannot have with 400 or 422.
      failuresInARow = 0
      try journal.add(
        FailedUser(user: queries.user, status: status, reason: "the provider has no such user"))
    case 401, 403:
      throw SubledgerError(
        .permission,
        "cannot fetch from \(rules.provider.name): it refused the key with status \(status)",
        hint: "check which key fetch.\(rules.provider.name).key names; what was fetched is kept")
    case 408, 425, 429, 500...599:
      // Such a response limits every request.
      if status == 429 || response.retryAfter != nil {
        let wait = Backoff.wait(after: 1, retryAfter: response.retryAfter)
        bucket.pause(until: now + Interval(milliseconds: wait))
      }
      try retry(
        queries, status, "the server was busy or failed", after: response.retryAfter, at: now)
    default:
      try retry(queries, status, "the request was refused", at: now, isLast: true)
    }
  }

  private mutating func take(
    _ page: SnapshotResponses.Page, to queries: UserQueries, at now: Instant
  ) throws {
    var queries = queries
    queries.attempts = 0
    guard page.next == nil || page.next != queries.last && queries.lists.count < 999 else {
      return try retry(queries, 200, "its list does not end", at: now, isLast: true)
    }
    // All responses about a user count as of the time of the first.
    let part = FetchedPart(
      capturedAt: queries.capturedAt ?? now, record: rules.records[queries.lines.count],
      list: page.list, next: page.next)
    guard take(part, to: &queries) else {
      return try retry(queries, 200, "the answer cannot be read", at: now, isLast: true)
    }
    guard queries.lines.count < rules.records.count else {
      failuresInARow = 0
      return try journal.add(queries.lines, of: queries.user)
    }
    try journal.add(part, of: queries.user)
    waiting.insert(queries, at: 0)
  }

  /// Adds an answer; returns false when it belongs to another record or is unreadable.
  private mutating func take(_ part: FetchedPart, to queries: inout UserQueries) -> Bool {
    guard rules.records.dropFirst(queries.lines.count).first == part.record else { return false }
    queries.capturedAt = part.capturedAt
    queries.lists.append(part.list)
    queries.last = part.next
    guard part.next == nil else { return true }
    let line = responses.line(
      queries.lists, user: queries.user.id, app: queries.user.app, at: part.capturedAt,
      of: rules.provider)
    guard let line else { return false }
    queries.lines.append(line)
    queries.lists = []
    return true
  }

  /// Schedules the request again, or gives the user up.
  private mutating func retry(
    _ queries: UserQueries, _ status: Int?, _ reason: String, after seconds: Int? = nil,
    at now: Instant, isLast: Bool = false
  ) throws {
    var queries = queries
    queries.attempts += 1
    guard isLast || queries.attempts >= Self.attemptsMax else {
      let wait = Backoff.wait(after: queries.attempts, retryAfter: seconds)
      queries.readyAt = now + Interval(milliseconds: wait)
      return waiting.append(queries)
    }
    failed.append(FailedUser(user: queries.user, status: status, reason: reason))
    failuresInARow += 1
    guard failuresInARow < Self.failuresMax else {
      let answer = status.map { "status \($0): " } ?? ""
      throw SubledgerError(
        .tryAgain,
        "cannot fetch from \(rules.provider.name): \(failuresInARow) users in a row brought no "
          + "snapshot, the last with \(answer)\(reason)",
        hint: "check the network and the provider's status page, and fetch again: what was "
          + "fetched is kept")
    }
  }
}

/// The requests about one user, one after another.
private struct UserQueries {
  let user: FetchedUser
  var readyAt: Instant
  var attempts = 0
  var capturedAt: Instant?
  /// The lists so far of the current record; `last` is the last id in them.
  var lists: [[UInt8]] = []
  var last: String?
  /// One line for each complete record.
  var lines: [[UInt8]] = []
}
