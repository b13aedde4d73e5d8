public import Domain

extension Ledger {
  /// Whether any webhook of `provider` contains entitlements that its event does not explain, or
  /// names an earlier user of its subscription.
  public func hasWebhookSnapshots(of provider: Provider) throws(SubledgerError) -> Bool {
    try access("look for entitlements of webhooks") {
      try $0.isAny("lineage where provider = ? and compared > 0", provider)
    }
  }

  /// Calls `body` with every user, by key, whose subscriptions have such a webhook; `users`
  /// restricts the walk.
  public func forEachUser(
    withWebhookSnapshotOf provider: Provider,
    users: [ClosedRange<Int64>] = [.min ... .max],
    _ body: (Int64) throws -> Void
  ) throws {
    try visit("read entitlements of webhooks") { database in
      for users in users {
        try database.forEachRow(
          """
          select distinct user from lineage
          where provider = ? and compared > 0 and user between ? and ? and user <> 0 order by user
          """, provider, users.lowerBound, users.upperBound
        ) { try body($0.int64(0)) }
      }
    }
  }

  /// Returns the newest entitlements in webhooks of a user's `lineages` that their events do not
  /// explain, as a snapshot at the creation time of the webhook; nil if there are none at `asOf`.
  ///
  /// Of a duplicated event, the entitlements of the version that counts are used. Webhooks of an
  /// earlier user are ignored.
  public func webhookSnapshot(
    of lineages: [LineageRow], asOf: Instant
  ) throws(SubledgerError) -> Snapshot? {
    try access("read entitlements of webhooks") { database in
      var newest: (event: Event, snapshot: Snapshot)?
      func precedes(_ one: Event, _ other: Event) -> Bool {
        (one.createdAt, one.time, one.identity) < (other.createdAt, other.time, other.identity)
      }
      for row in lineages where row.isCompared && row.environment == .production {
        try database.forEachRecord(of: row.key) { record in
          guard record.counts, record.hasEntitlements, record.user == row.user || record.user == 0
          else { return }
          var event = row.scope.emptyEvent
          let rest = try record.complete(&event)
          guard event.time < asOf, event.createdAt <= asOf,
            newest.map({ precedes($0.event, event) }) ?? true
          else { return }
          let snapshot = Snapshot(
            provider: row.provider, user: "", capturedAt: event.createdAt,
            entitlements: try rest.decodedEntitlements(), place: event.place, isOfWebhook: true)
          newest = (event, snapshot)
        }
      }
      return newest?.snapshot
    }
  }
}
