// The third of the three pure functions: what we were told, what is true now, and what must have
// happened in between → what does not agree. No I/O, no clock; every input order gives the same
// breaks.

/// Compares one user's lineages with that user's current snapshot.
///
/// The passes run in the contract's order, which stands here alone, and each takes what the earlier
/// ones found missing as told: transaction, lineage and period, counter, calendar. What events
/// alone prove (gaps in their counters, refunds of charges never seen, ends followed by silence) is
/// found without a snapshot as well.
///
/// - Parameters:
///   - user: the lineages, folded up to the earlier of as-of and `captured_at`, and the snapshot.
///   - rules: as-of, windows, product map, and what the ledger knows of each feed.
/// - Returns: the breaks, sorted by id, and what was left out on purpose.
public func reconcile(_ user: ReconciliationInput, rules: ReconciliationSettings)
  -> ReconciliationResult
{
  var work = Reconciler(user, rules: rules)
  work.findMissingTransactions()
  work.findRefundsOfUnseenCharges()
  work.judgeUnmatched()
  let matches = work.matchEntitlements()
  work.compareLineages(matches)
  work.findCounterGaps()
  work.compareCounters(matches)
  work.compareExpirations(matches)
  work.comparePresence(matches)
  work.findSilentEnds()
  return work.outcome
}
