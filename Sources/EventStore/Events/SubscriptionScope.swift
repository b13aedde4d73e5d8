internal import Domain

/// The fields that all events of a lineage share.
struct SubscriptionScope: Equatable {
  var provider = Provider.qonversion
  var app: StringID = 0
  var environment = Environment.production
  var store = Store.unknown
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

  /// Returns an event with the fields of the lineage, and no others.
  func event(of lineage: Int64) -> Event {
    var event = Event(
      provider: provider, environment: environment, store: store, kind: .other,
      time: Instant(milliseconds: 0))
    event.app = app
    event.lineage = lineage
    return event
  }

  /// Reads provider, app, environment and store from consecutive columns, starting with `column`.
  init(_ row: Statement, from column: Int32) throws(SubledgerError) {
    self.init(
      provider: try row.value(column), app: try row.symbol(column + 1),
      environment: try row.value(column + 2), store: try row.value(column + 3))
  }

  mutating func code<Coder: FieldCoder>(by coder: inout Coder) {
    coder.code(&provider)
    coder.code(&app)
    coder.code(&environment)
    coder.code(&store)
  }
}
