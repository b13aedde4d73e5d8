import Testing
import Domain

@testable import Pipeline

@Suite("Folding in parallel")
struct FoldTests {
  @Test("Ranges of lineages are adjacent, without gaps or overlaps", arguments: 1...5)
  func stretches(shares: Int) {
    let stretches = lineageKeys(shares: shares)
    #expect(stretches.count == shares)
    #expect(stretches.first?.lowerBound == .min)
    #expect(stretches.last?.upperBound == .max)
    for (left, right) in zip(stretches, stretches.dropFirst()) {
      #expect(left.upperBound + 1 == right.lowerBound)
    }
  }

  @Test("Cells folded separately add up to those folded together")
  func sums() throws {
    var one = Facts()
    var other = Facts()
    for facts in [0, 1] {
      var part = Facts()
      part.trials[productKey] = trial(started: Int64(1 + facts), converted: Int64(facts))
      part.movements[movement] = MovementSums()
      part.movements[movement]?.mrr = Amount(micros: 5_000_000)
      part.movements[movement]?.subscriptions = 1
      if facts == 0 { one = part } else { other = part }
    }
    try one.add(other)
    #expect(one.trials[productKey] == trial(started: 3, converted: 1))
    #expect(one.movements[movement]?.mrr == Amount(micros: 10_000_000))
    #expect(one.movements[movement]?.subscriptions == 2)
  }

  @Test("Sums beyond the range of amounts are an error, not a wrong number")
  func overflow() {
    var facts = Facts()
    facts.movements[movement] = MovementSums()
    facts.movements[movement]?.mrr = Amount(micros: .max)
    #expect(throws: AmountOverflow.self) { try facts.add(facts) }
  }

  private let productKey = ProductDay(
    day: Day(year: 2026, month: 3, day: 1),
    productKey: ProductKey(provider: .qonversion, app: 1, store: .appStore, product: 2))

  private var movement: MovementKey {
    MovementKey(month: productKey.day.month, productKey: productKey.productKey, movement: .new)
  }

  private func trial(started: Int64, converted: Int64) -> TrialSums {
    var sums = TrialSums()
    sums.started = started
    sums.converted = converted
    return sums
  }
}
