internal import EventStore
internal import Domain

extension ReportContext {
  /// Lists each subscription's open breaks, by the first, with the request that asks about them.
  ///
  /// SQL cannot build the request because ids must be encoded for a URL.
  func makeFetches() throws {
    try table(
      "fetch",
      "first_break text primary key, method text, host text, path text, note text, break_ids text")
    // Of two records the greater word, `purchases`, wins: purchases contain states, too.
    try ledger.rows(
      sql: """
        select distinct min(state.break_id) over own, state.provider_id, state.app_id,
          case when state.user_id in (select pseudonym from erased) then '' else state.user_id end,
          max(break_code.record) over own, group_concat(state.break_id, ' ') over own
        from temp.break_state as state
        join temp.break_code on break_code.code = state.code
        where state.status in ('open', 'reopened') and break_code.record is not null
        window own as (
          partition by state.provider, state.app_id, state.environment, state.store, state.user_id,
            state.subscription_id
          order by state.break_id rows between unbounded preceding and unbounded following
        )
        """
    ) { row in
      guard let record = FetchRequest.Record(rawValue: row.text(4)) else { return }
      let request = FetchRequest(
        record, of: row.text(3), app: row.text(2), at: try row.provider(1))
      let texts = [
        row.text(0), request.method, request.host, request.path, request.note, row.text(5),
      ]
      try insert("fetch", texts.map(LedgerValue.text))
    }
  }

  /// Maps each break code: whether it means a missing event, and which provider record shows more.
  func makeBreakCodes() throws {
    try table("break_code", "code text primary key, is_missing integer, record text")
    for code in BreakCode.allCases {
      try insert(
        "break_code", .text(code.rawValue), .integer(code.isMissing ? 1 : 0),
        code.remedy.map { .text($0.rawValue) } ?? .null)
    }
  }
}
