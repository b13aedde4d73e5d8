public import Domain

extension [Break] {
  /// Values a loss that several providers miss once: at the provider that is first in `authority`,
  /// if possible of those that can no longer deliver it.
  ///
  /// - Parameter scale: gives the severity of the remaining amounts.
  public mutating func valueLossesOnce(by rules: FoldSettings, _ scale: SeverityScale) {
    func rank(_ index: Int) -> (Int, Int, Int) {
      let place = rules.authority.firstIndex(of: self[index].provider) ?? .max
      return (self[index].status == .pending ? 1 : 0, place, index)
    }
    let losses = indices.filter { self[$0].isLossOfMoney }
    guard Set(losses.map { self[$0].provider }).count > 1 else { return }
    var counted: [StorePlace: [Int]] = [:]
    for index in losses.sorted(by: { rank($0) < rank($1) }) {
      let found = self[index]
      let same = found.places.lazy.flatMap { counted[$0] ?? [] }.first {
        self[$0].isLoss(of: found, rules.renewalGap)
      }
      guard let same else {
        for place in found.places { counted[place, default: []].append(index) }
        continue
      }
      let (count, other) = (found.lostEvents, self[same])
      let left = Swift.max(0, count - other.lostEvents)
      self[index].estimatedUSD = try? found.estimatedUSD?.scaled(by: left, over: count)
      self[index].severity = scale.severity(of: self[index].estimatedUSD)
      self[index].evidence += "; also missing from \(other.provider.name), whose report counts"
    }
  }
}

/// A subscription or a transaction of a store.
private struct StorePlace: Hashable {
  let store: Store
  let id: String
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
      .map { StorePlace(store: store, id: $0) }
  }

  /// Compares transactions if both breaks have one, else the expected times.
  func isLoss(of other: Break, _ gap: Interval) -> Bool {
    guard provider != other.provider, (code == .missedRefund) == (other.code == .missedRefund)
    else { return false }
    if store.startsWithOriginal, !transaction.isEmpty, !other.transaction.isEmpty {
      return transaction == other.transaction
    }
    guard let at = expectedAt, let time = other.expectedAt else { return false }
    let length = Swift.min(periodLength, other.periodLength).milliseconds
    // Two losses of a product are a period apart.
    let tolerance = product == other.product ? Interval(milliseconds: length / 2) : gap
    return at.isWithin(Swift.max(gap, tolerance), of: time)
  }
}
