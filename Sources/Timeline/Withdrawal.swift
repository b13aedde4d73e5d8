public import Vocabulary

extension Life {
  /// Takes out of `facts` what `book` adds to them.
  public func withdraw(from facts: inout Facts) throws(AmountOverflow) {
    var books = Withdrawal()
    swap(&books.facts, &facts)
    defer { swap(&books.facts, &facts) }
    try book(all: &books)
  }
}

/// Facts out of which is taken what a life adds: its shares with every sign turned.
private struct Withdrawal: Books {
  var facts = Facts()

  mutating func add(
    _ sums: RevenueSums, to key: RevenueKey, from source: ShareSource
  ) throws(AmountOverflow) {
    try facts.add(sums.negated, to: key, from: source)
  }

  mutating func add(
    _ sums: MovementSums, to key: MovementKey, from source: ShareSource
  ) throws(AmountOverflow) {
    try facts.add(sums.negated, to: key, from: source)
  }

  mutating func add(
    _ sums: RetentionSums, to key: RetentionKey, from source: ShareSource
  ) throws(AmountOverflow) {
    try facts.add(sums.negated, to: key, from: source)
  }

  mutating func add(_ sums: RenewalSums, to key: RenewalKey, from source: ShareSource) {
    facts.add(sums.negated, to: key, from: source)
  }

  mutating func add(_ sums: TrialSums, to key: OfferingDay, from source: ShareSource) {
    facts.add(sums.negated, to: key, from: source)
  }

  mutating func add(_ sums: ExclusionSums, to key: ExclusionKey, from source: ShareSource) {
    facts.add(sums.negated, to: key, from: source)
  }

  mutating func add(_ sums: ArrivalSums, to key: ArrivalKey, from source: ShareSource) {
    facts.add(sums.negated, to: key, from: source)
  }

  mutating func add(_ events: Int64, to key: CoverageKey, from source: ShareSource) {
    facts.add(-events, to: key, from: source)
  }
}
