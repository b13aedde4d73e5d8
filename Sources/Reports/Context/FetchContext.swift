internal import EventStore
internal import Domain

extension ReportContext {
  /// The open breaks of each subscription and the request that asks its provider about them.
  ///
  /// SQL cannot build the request because ids must be encoded for a URL.
  func makeFetches() throws {
    try makeBreakCodes()
    try table(
      "fetch",
      """
      provider integer, app text, environment integer, store integer, user_id text,
      subscription_id text, method text, host text, path text, note text, break_ids text,
      primary key (provider, app, environment, store, user_id, subscription_id)
      """)
    var current: FetchGroup?
    try ledger.rows(
      sql: """
        select state.provider, state.app, state.environment, state.store, state.user_id,
          state.subscription_id, break_code.record, state.id
        from temp.break_state as state
        join temp.break_code on break_code.code = state.code
        where state.status in ('open', 'reopened')
        order by state.provider, state.app, state.environment, state.store, state.user_id,
          state.subscription_id, state.id
        """
    ) { row in
      guard let next = try FetchGroup(row) else { return }
      if current?.takeIn(next) == true { return }
      if let current { try insert("fetch", current.values) }
      current = next
    }
    if let current { try insert("fetch", current.values) }
  }

  /// What each code means: that an event never came, and which record of the provider shows more.
  private func makeBreakCodes() throws {
    try table("break_code", "code text primary key, is_missing integer, record text")
    for code in BreakCode.allCases {
      try insert(
        "break_code", .text(code.rawValue), .integer(code.isMissing ? 1 : 0),
        code.remedy.map { .text($0.rawValue) } ?? .null)
    }
  }
}

/// The open breaks of one subscription of a user.
private struct FetchGroup {
  /// The key of its row.
  private let subject: [LedgerValue]
  private let provider: Provider
  private let app: String
  private let user: String
  private var record: FetchRequest.Record
  private var breaks: [String]

  /// The group of the one break in `row`; nil when no record of the provider shows more.
  init?(_ row: LedgerRow) throws {
    guard let record = FetchRequest.Record(rawValue: row.text(6)) else { return nil }
    subject = Array(row.values.prefix(6))
    (provider, app, user) = (try row.provider(0), row.text(1), row.text(4))
    self.record = record
    breaks = [row.text(7)]
  }

  /// Takes in the breaks of `other` and answers true when they are of the same subscription.
  mutating func takeIn(_ other: FetchGroup) -> Bool {
    guard subject == other.subject else { return false }
    breaks += other.breaks
    // Purchases contain states, too.
    if other.record == .purchases { record = .purchases }
    return true
  }

  var values: [LedgerValue] {
    let request = FetchRequest(record, of: user, app: app, at: provider)
    return subject + [
      .text(request.method), .text(request.host), .text(request.path), .text(request.note),
      .text(breaks.joined(separator: " ")),
    ]
  }
}
