import EventStore
import Reconciliation
import Reports
import Subscriptions
import Domain

/// Compares damages with the breaks found.
struct DrillAccount {
  private let before: DrillSight
  private let after: DrillSight
  private var score = DrillScore()
  /// Texts about missed and false breaks.
  private(set) var notes: [String] = []

  init(before: DrillSight, after: DrillSight) {
    self.before = before
    self.after = after
  }

  /// By the order of the codes, duplicates last.
  var rows: [DrillRow] {
    (BreakCode.allCases.map(\.rawValue) + [Self.duplicate]).compactMap { score.rows[$0] }
  }

  private static let duplicate = "duplicate"

  /// Scores every damage except duplicates.
  mutating func settle(_ damages: [Damage], _ testimony: DrillTestimony) {
    var found = Dictionary(
      uniqueKeysWithValues: after.breaks(since: before).map { ($0.id, $0) })
    var byHolder: [BreakHolder: [String]] = [:]
    for item in found.values {
      for holder in item.holders { byHolder[holder, default: []].append(item.id) }
    }
    for damage in damages {
      let ids = Set(damage.candidate.row.holders.flatMap { byHolder[$0] ?? [] })
      let own = ids.sorted().compactMap { found.removeValue(forKey: $0) }
      settle(damage, found: own, testimony)
    }
    for wrong in found.values.sorted(by: { $0.id < $1.id }) {
      score.add(wrong.code.rawValue) { $0.wrong += 1 }
      notes.append("false \(wrong.code.rawValue) of subscription \(wrong.subscription)")
    }
    settleArrivals(damages)
  }

  private mutating func settle(
    _ damage: Damage, found: [Break], _ testimony: DrillTestimony
  ) {
    let event = damage.candidate.event
    let code = damage.expected.first { !$0.isAboutArrival }
    let match =
      found.firstIndex { $0.code == code }
      ?? found.firstIndex { code?.isMissing == true && $0.code.isMissing }
      ?? found.firstIndex { code?.isMissing == true && $0.code == .eventsAbsent }
    let about =
      "after \(event.kind.name) of \(event.time.text), subscription "
      + "\(damage.candidate.row.original), was \(damage.kind.rawValue)"
    for (index, wrong) in found.enumerated() where index != match {
      if wrong.code.isAboutArrival, damage.expected.contains(wrong.code) { continue }
      score.add(wrong.code.rawValue) { $0.wrong += 1 }
      notes.append("false \(wrong.code.rawValue) \(about)")
    }
    guard let code else { return }
    score.add(code.rawValue) { $0.injected += 1 }
    if let match {
      score.add(code.rawValue) { row in
        row.found += 1
        if found[match].code != code { row.renamed += 1 }
      }
    } else if code.isMissing, let excuse = testimony.excuse(for: damage) {
      score.add(code.rawValue) { $0.unrevealed[excuse, default: 0] += 1 }
    } else {
      score.add(code.rawValue) { $0.missed += 1 }
      notes.append("missed \(code.rawValue) \(about)")
    }
  }

  /// Scores duplicates: each must be recognised.
  mutating func settleDuplicates(_ damages: [Damage], known: Int64) {
    let expected = Int64(damages.count { $0.kind == .duplicated })
    guard expected > 0 || known > 0 else { return }
    score.add(Self.duplicate) { row in
      row.injected = expected
      row.found = min(expected, known)
      row.missed = max(0, expected - known)
      row.wrong = max(0, known - expected)
    }
  }

  /// Late and disordered deliveries are counted by day and kind, not raised one by one.
  private mutating func settleArrivals(_ damages: [Damage]) {
    var expected: [ArrivalKey: [BreakCode: Int64]] = [:]
    for damage in damages {
      guard let event = damage.delivered else { continue }
      let key = ArrivalKey(
        day: CivilCalendar.utc.day(of: event.arrivedAt),
        provider: event.provider, kind: event.kind)
      for code in damage.expected where code.isAboutArrival {
        expected[key, default: [:]][code, default: 0] += 1
      }
    }
    for key in Set(after.arrivals.keys).union(expected.keys) {
      let new = after.arrivals[key] ?? ArrivalSums()
      let old = before.arrivals[key] ?? ArrivalSums()
      for (code, counted) in [
        (BreakCode.late, new.late - old.late),
        (.outOfOrder, new.outOfOrder - old.outOfOrder),
      ] {
        let wanted = expected[key]?[code] ?? 0
        guard wanted > 0 || counted > 0 else { continue }
        score.settle(code, expected: wanted, counted: counted)
      }
    }
  }
}
