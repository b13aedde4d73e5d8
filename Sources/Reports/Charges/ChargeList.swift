public import Domain

/// The list of charges in the making: rows come in the order of subscriptions, and the files of the
/// months are written once all are known.
public struct ChargeList: Sendable {
  private(set) var spill: ChargeSpill?
  private(set) var totals: [Month: ChargeTotals] = [:]
  /// How often each row of the published list is gone, by the fingerprint of its bytes.
  private(set) var removed: [Month: [Int64: Int]] = [:]
  private let spillPath: String

  /// An empty list.
  ///
  /// - Parameter spillPath: a file that is made to hold the rows, and has no name then.
  public init(spillPath: String) { self.spillPath = spillPath }

  /// Takes the rows of `part`, which is sorted, into the list.
  public mutating func add(_ part: ChargePart) throws(SubledgerError) {
    if !part.entries.isEmpty {
      if spill == nil { spill = try ChargeSpill(at: spillPath) }
      try spill?.add(part)
    }
    for (month, sums) in part.totals { totals[month, default: ChargeTotals()].add(sums) }
    for (month, rows) in part.removed {
      removed[month, default: [:]].merge(rows) { $0 + $1 }
    }
  }
}
