internal import Domain

/// What all events of a lineage have in common.
struct SubscriptionScope: Equatable {
  var provider: Provider
  var app: StringID
  var environment: Environment
  var store: Store
}

extension SubscriptionScope {
  init(of event: Event) {
    self.init(
      provider: event.provider, app: event.app, environment: event.environment,
      store: event.store)
  }

  init(_ lineage: LineageRow) {
    self.init(
      provider: lineage.provider, app: lineage.app, environment: lineage.environment,
      store: lineage.store)
  }

  /// The common fields of a lineage's events, as an event without other fields.
  func event(of lineage: Int64) -> Event {
    var event = Event(
      provider: provider, environment: environment, store: store, kind: .other,
      time: Instant(milliseconds: 0))
    event.app = app
    event.lineage = lineage
    return event
  }

  /// Reads provider, app, environment and store from `column` on.
  init(_ row: Statement, from column: Int32) throws(SubledgerError) {
    self.init(
      provider: try row.value(column), app: try row.symbol(column + 1),
      environment: try row.value(column + 2), store: try row.value(column + 3))
  }
}
