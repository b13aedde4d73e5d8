import EventStore
import Reconciliation
import Subscriptions
import Domain

/// The results of folding some groups.
struct FoldResult: Codable, Sendable {
  var facts = Facts()
  /// Breaks that events alone show.
  var breaks: [Break] = []
  /// Number of charges at each exchange quote.
  var rates: [ExchangeRates.Quote: Int64] = [:]
  /// Number of renewals at each price.
  var prices: [PaidPrice: Int64] = [:]
  /// Keys of groups whose events alone may prove that one is missing.
  var proving: Set<Int64> = []
  /// When the groups are to be folded again.
  var due: [DueLineage] = []
  /// Charges that several providers report.
  var overlaps: [OverlapRow] = []
  /// The lineages of groups that report the same transactions as others.
  var linked: Set<Int64> = []
  var groups: Int64 = 0

  /// All properties except the facts, which are passed as rows.
  private enum CodingKeys: CodingKey {
    case breaks, rates, prices, proving, due, overlaps, linked, groups
  }

  mutating func add(_ other: FoldResult) throws(AmountOverflow) {
    try facts.add(other.facts)
    breaks += other.breaks
    rates.merge(other.rates) { $0 + $1 }
    prices.merge(other.prices) { $0 + $1 }
    proving.formUnion(other.proving)
    due += other.due
    overlaps += other.overlaps
    linked.formUnion(other.linked)
    groups += other.groups
  }

  /// Removes and returns the ordered parts.
  mutating func takePart() -> FoldResult {
    var part = FoldResult()
    swap(&part.breaks, &breaks)
    swap(&part.due, &due)
    swap(&part.overlaps, &overlaps)
    swap(&part.groups, &groups)
    return part
  }
}

/// Folds one group into facts, breaks and the time of its next fold.
struct GroupFold: Sendable {
  let rules: ReconciliationSettings

  /// Adds the results of a group, or of linked ones; calls `take` with each subscription that
  /// counts, which is not kept afterwards.
  func fold(
    _ group: [LineageRow], _ events: [Event], _ builder: InputBuilder,
    into result: inout FoldResult,
    _ take: (SubscriptionHistory) throws -> Void
  ) throws {
    guard let linked = try LinkedGroups(group, events, rules: rules.fold) else {
      return try fold(LinkedGroups.Part(group, events), [], builder, into: &result) {
        try take($0)
        // Releases this memory before the facts grow.
        if $0.isLarge { try builder.ledger.releaseMemory() }
        try $0.book(into: &$1)
      }
    }
    let counted = linked.counted.histories
    for history in counted { try history.book(into: &result.facts) }
    for part in linked.parts { try fold(part, counted, builder, into: &result) { _, _ in } }
    let texts = try builder.texts(of: group, events).transactions
    result.overlaps += linked.counted.overlaps.map { OverlapRow($0, texts) }
    result.linked.formUnion(group.map(\.key))
    try counted.forEach(take)
  }

  /// Adds the breaks of a group by itself and the time of its next fold, which also depends on what
  /// linked groups count; calls `book` with each subscription.
  ///
  /// Each of some linked groups has deadlines of its own, because its subscriptions may have been
  /// linked earlier and now be part of no other group.
  private func fold(
    _ part: LinkedGroups.Part, _ counted: [SubscriptionHistory], _ builder: InputBuilder,
    into result: inout FoldResult, _ book: (SubscriptionHistory, inout Facts) throws -> Void
  ) throws {
    var deadlines = Deadlines(part.events, rules: rules.fold)
    var isWatched = try addFutureBreaks(part.rows, part.events, builder, into: &result)
    var texts: GroupTexts?
    try part.forEachHistory(by: rules.fold, in: builder.ledger) { history in
      try book(history, &result.facts)
      deadlines.add(history)
      if try check(history, of: part, &texts, builder, into: &result) { isWatched = true }
    }
    lazy var lineages = Set(part.rows.map(\.key))
    for history in counted where !history.lineages.isDisjoint(with: lineages) {
      deadlines.add(history)
    }
    result.groups += 1
    // The smallest key, because a whole fold and an increment read a group in different orders.
    guard let next = isWatched ? rules.fold.asOf : deadlines.first,
      let key = part.rows.lazy.map(\.key).min()
    else { return }
    result.due.append(DueLineage(lineage: key, deadline: next))
  }

  /// Adds the prices and rates of a subscription of a fold group, and its breaks; returns whether
  /// every run must check it again.
  ///
  /// - Parameter texts: those of the group, once they are needed.
  private func check(
    _ history: SubscriptionHistory, of group: LinkedGroups.Part,
    _ texts: inout GroupTexts?, _ builder: InputBuilder, into result: inout FoldResult
  ) throws -> Bool {
    history.book(into: &result.rates)
    history.book(into: &result.prices)
    var isWatched = history.mayChange
    if provesMissingEvent(history, group.rows) {
      result.proving.insert(group.rows[0].key)
      // Missing events are reported again in every run: text and status depend on as-of.
      isWatched = true
    }
    guard !history.findings.isEmpty, let state = history.state else { return isWatched }
    let known = try texts ?? builder.texts(of: group.named, group.namedEvents)
    texts = known
    let found = breaks(from: history.findings, lineage: known.input(state), rules: rules)
    if found.contains(where: { $0.status == .pending }) { isWatched = true }
    result.breaks += found
    return isWatched
  }

  /// Adds a break for each event after as-of, unless the run looks back at an earlier time or no
  /// event of the provider arrived before as-of; returns whether there are such events, which later
  /// runs must check again.
  private func addFutureBreaks(
    _ group: [LineageRow], _ events: [Event], _ builder: InputBuilder, into result: inout FoldResult
  ) throws -> Bool {
    let latest = rules.fold.asOf + .days(1)
    // Events are in the order of time.
    guard let last = events.last, last.time > latest else { return false }
    let ahead = events.filter { $0.time > latest && $0.observation?.isUndated != true }
    let isKnown = rules.fold.watermarks.keys.contains { $0.provider == last.provider }
    guard !ahead.isEmpty, isKnown, !rules.fold.isRetrospective else { return !ahead.isEmpty }
    var then = rules.fold
    then.asOf = last.time + Interval(milliseconds: 1)
    let texts = try builder.texts(of: group, events)
    let lineages = Dictionary(grouping: events, by: \.lineage)
    let late = Dictionary(grouping: ahead, by: \.lineage)
    for row in group {
      guard let late = late[row.key], let own = lineages[row.key],
        let state = try histories(of: own, rules: then).lazy.compactMap(\.state).first
      else { continue }
      let lineage = texts.input(state)
      for event in late {
        result.breaks.append(clockBreak(ahead: event, lineage: lineage, rules: rules))
      }
    }
    return true
  }

  /// Whether events of the subscription alone prove that one is missing, and reconciliation finds
  /// it only through the fold: it walks over the users of providers with snapshots.
  private func provesMissingEvent(_ history: SubscriptionHistory, _ group: [LineageRow]) -> Bool {
    guard let first = rules.firstEventAt, history.provesMissingEvent(since: first) else {
      return false
    }
    return group[0].user == 0 || rules.snapshotsTakenAt[group[0].provider] == nil
  }
}

extension Array {
  /// Splits the array for workers: into parts small enough that little waits in memory, and at
  /// least one for each of `jobs`.
  func parts(sizeMin: Int, jobs: Int) -> [ArraySlice<Element>] {
    let size = Swift.max(sizeMin, Swift.min(4_096, count / jobs + 1))
    return stride(from: 0, to: count, by: size).map { self[$0..<Swift.min($0 + size, count)] }
  }
}
