public import Domain

extension [Break] {
  /// Values a loss that several providers miss once: at the provider that is first in `authority`,
  /// if possible of those that can no longer deliver it.
  ///
  /// - Parameter severities: give the severity of the remaining amounts.
  public mutating func valueLossesOnce(by rules: FoldSettings, _ severities: SeverityThresholds) {
    func rank(_ index: Int) -> (Int, Int, Int) {
      let place = rules.authority.firstIndex(of: self[index].provider) ?? .max
      return (self[index].status == .pending ? 1 : 0, place, index)
    }
    let losses = indices.filter { self[$0].isLossOfMoney }
    guard Set(losses.map { self[$0].provider }).count > 1 else { return }
    var counted: [StorePlace: [Int]] = [:]
    for index in losses.sorted(by: { rank($0) < rank($1) }) {
      let found = self[index]
      let same = Set(found.places.flatMap { counted[$0] ?? [] }).map {
        (provider: self[$0].provider, events: found.events(sharedWith: self[$0], rules.renewalGap))
      }.filter { $0.events > 0 }
      guard !same.isEmpty else {
        for place in found.places { counted[place, default: []].append(index) }
        continue
      }
      let count = found.lostEvents
      let left = Swift.max(0, count - same.reduce(0) { $0 + $1.events })
      self[index].estimatedUSD = try? found.estimatedUSD?.scaled(by: left, over: count)
      self[index].severity = severities.severity(of: self[index].estimatedUSD)
      let providers = Set(same.map(\.provider.name)).sorted().joined(separator: ", ")
      self[index].evidence += "; also missing from \(providers), whose report counts"
    }
  }
}

/// A subscription or a transaction of a store.
private struct StorePlace: Hashable {
  let store: Store
  let id: String

  init(_ store: Store, _ id: String) {
    // Not every snapshot distinguishes Apple's two stores.
    (self.store, self.id) = (store.isApple ? .appStore : store, id)
  }
}

private extension Break {
  var isLossOfMoney: Bool {
    code.isMissing && environment == .production && lostEvents > 0
      && estimatedUSD.map { $0 != .zero } ?? false
  }

  /// The missing events that no provider reports.
  var lostEvents: Int64 { missingEvents - reportedElsewhere }

  var places: [StorePlace] {
    ([subscription, transaction] + parts).filter { !$0.isEmpty }
      .map { StorePlace(store, $0) }
  }

  /// The number of its lost events that `other` contains too: of the same transaction or, if one of
  /// both has no transaction or several events, at the same time.
  func events(sharedWith other: Break, _ gap: Interval) -> Int64 {
    guard provider != other.provider, (code == .missedRefund) == (other.code == .missedRefund)
    else { return 0 }
    let fewest = Swift.min(lostEvents, other.lostEvents)
    if store.startsWithOriginal, !transaction.isEmpty, !other.transaction.isEmpty {
      if transaction == other.transaction { return fewest }
      if lostEvents == 1, other.lostEvents == 1 { return 0 }
    }
    guard let at = expectedAt, let time = other.expectedAt else { return 0 }
    // Two losses of a product are a period apart.
    let length = Swift.min(periodLength, other.periodLength)
    let half = Interval(milliseconds: product == other.product ? length.milliseconds / 2 : 0)
    let tolerance = Swift.max(gap, half)
    guard length > .seconds(0) else { return at.isWithin(tolerance, of: time) ? fewest : 0 }
    // Any of its missing events can be the one that another provider reports.
    let shared = (0..<missingEvents).count { step in
      let due = at + Interval(milliseconds: length.milliseconds * step)
      let near = Swift.max(0, due.since(time).rounded(dividingBy: length))
      let steps = Swift.min(near, other.missingEvents - 1)
      return due.isWithin(tolerance, of: time + Interval(milliseconds: length.milliseconds * steps))
    }
    return Swift.min(Int64(shared), fewest)
  }
}
