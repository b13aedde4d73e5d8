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
  /// Keys of groups whose events alone show a missing charge, to be read again with all prices.
  var unpriced: Set<Int64> = []
  /// Ends that events alone put in doubt.
  var churnInDoubt: Set<ChurnInDoubt> = []
  /// When the groups are to be folded again.
  var due: [DueLineage] = []
  /// Charges that several providers report.
  var overlaps: [OverlapRow] = []
  /// The lineages of groups that report the same transactions as others.
  var linked: Set<Int64> = []
  var groups: Int64 = 0

  /// All properties except the facts, which are passed as rows.
  private enum CodingKeys: CodingKey {
    case breaks, rates, prices, unpriced, churnInDoubt, due, overlaps, linked, groups
  }

  mutating func add(_ other: FoldResult) throws(AmountOverflow) {
    try facts.add(other.facts)
    breaks += other.breaks
    rates.merge(other.rates) { $0 + $1 }
    prices.merge(other.prices) { $0 + $1 }
    unpriced.formUnion(other.unpriced)
    churnInDoubt.formUnion(other.churnInDoubt)
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

  /// Returns the same fold with the prices and rates of all charges.
  func estimating(by prices: PaidPrices, _ rates: ExchangeRates) -> GroupFold {
    var rules = rules
    (rules.prices, rules.rates) = (prices, rates)
    return GroupFold(rules: rules)
  }

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
    var own = FoldResult()
    for part in linked.parts { try fold(part, counted, builder, into: &own) { _, _ in } }
    own.churnInDoubt = Set(own.churnInDoubt.compactMap(counted.counted))
    try result.add(own)
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
    let provesMissingEvent = provesMissingEvent(history, group.rows)
    guard !history.findings.isEmpty || provesMissingEvent, let state = history.state else {
      return isWatched
    }
    let known = try texts ?? builder.texts(of: group.named, group.namedEvents)
    texts = known
    let lineage = known.input(state)
    var found = breaks(from: history.findings, lineage: lineage, rules: rules)
    if provesMissingEvent {
      let outcome = missing(in: lineage)
      // The value of a missing charge depends on the prices of all charges.
      if outcome.breaks.contains(where: \.code.isCharge) {
        result.unpriced.insert(group.rows[0].key)
      } else {
        found += outcome.breaks
      }
      result.churnInDoubt.formUnion(outcome.churnInDoubt)
      // Missing events are reported again in every run: text and status depend on as-of.
      isWatched = true
    }
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

  /// Returns the missing charges that events alone prove, by rules with the prices and rates of all
  /// charges.
  ///
  /// A fold finds the few `groups` before it has read all charges, so they are read again.
  func missingCharges(of groups: Set<Int64>, in ledger: Ledger, jobs: Int) throws -> [Break] {
    guard !groups.isEmpty else { return [] }
    var breaks: [Break] = []
    let parts = groups.sorted().parts(sizeMin: 64, jobs: jobs)
    try Workers(count: jobs, waitingMax: 2).read(ledger, parts) { ledger, part in
      let builder = InputBuilder(ledger: ledger, rules: rules.fold)
      var breaks: [Break] = []
      for row in try part.compactMap({ try ledger.lineage($0) }) {
        let group = try LinkedGroups.Part(of: row, in: ledger, rules: rules.fold)
        let texts = try builder.texts(of: group.named, group.namedEvents)
        try group.forEachHistory(by: rules.fold, in: ledger) { history in
          guard provesMissingEvent(history, group.rows), let state = history.state else { return }
          let lineage = texts.input(state)
          let found = missing(in: lineage).breaks
          guard found.contains(where: \.code.isCharge) else { return }
          breaks += found
        }
      }
      return breaks
    } take: {
      breaks += $0
    }
    return breaks
  }

  /// Whether events of the subscription alone prove that one is missing, and only the fold finds
  /// it: reconciliation walks over the users of providers with snapshots, and not over lineages
  /// without a user.
  private func provesMissingEvent(_ history: SubscriptionHistory, _ group: [LineageRow]) -> Bool {
    guard let first = rules.firstEventAt, history.provesMissingEvent(since: first) else {
      return false
    }
    return group[0].user == 0 || rules.snapshotsTakenAt[group[0].provider] == nil
  }

  /// The missing events that those of the subscription alone prove.
  private func missing(in lineage: LineageInput) -> ReconciliationResult {
    let user = ReconciliationInput(
      provider: lineage.state.provider, user: lineage.user, lineages: [lineage])
    var result = reconcile(user, rules: rules, checkStop: {})
    for index in result.breaks.indices { result.breaks[index].lineage = lineage.state.lineage }
    return result
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
