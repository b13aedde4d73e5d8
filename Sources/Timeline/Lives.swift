public import Vocabulary

/// The lives that the events of one fold group tell of.
///
/// - Parameters:
///   - events: the counted version of every event of one fold group, in any order: for Qonversion
///     a lineage, for the other providers all lineages of one user in one app and environment, or
///     a lineage without user.
///   - rules: as-of and the settings of the run.
/// - Returns: for Qonversion exactly one life; in an order that does not depend on that of arrival.
/// - Throws: `AmountOverflow` when a derived amount does not fit.
public func lives(of events: [Event], rules: Rules) throws(AmountOverflow) -> [Life] {
  [try Life(events: events, rules: rules)]
}
