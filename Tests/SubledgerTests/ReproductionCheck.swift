/// Changed versions of an event's line, as providers send them.
extension String {
  /// The line with another amount in dollars.
  var withOtherDollars: String { replacing(/"value_usd\\?":/, with: { "\($0.0)1" }) }

  /// The line as if created a minute later.
  var madeLater: String {
    replacing(
      /"created_at(\\?)":([0-9]+)/,
      with: { "\"created_at\($0.1)\":\((Int($0.2) ?? 0) + 60)" })
  }
}
