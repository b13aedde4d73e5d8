import Testing
import Domain

@testable import Subscriptions

@Suite("Counting renewals charge by charge")
struct RenewalCounterTests {
  /// The jumps of a subscription with a seen start, up to each of some charges.
  private func jumps(
    _ charges: [(kind: ChargeKind, counter: Int32?)]
  ) -> (jumps: [CounterJump?], count: Int64?) {
    var counter = RenewalCounter(isStartSeen: true)
    let jumps = charges.map { counter.take($0.kind, counter: $0.counter) }
    return (jumps, counter.count)
  }

  @Test("Charges without a counter continue from the previous renewal and leave no gap")
  func uncounted() {
    let found = jumps([(.first, nil), (.renewal, nil), (.renewal, nil), (.renewal, 3)])
    #expect(found.jumps == [nil, nil, nil, nil] && found.count == 3)
  }

  @Test("A first payment does not count, even if it is a product change after a trial")
  func firstPayment() {
    #expect(jumps([(.productChange, nil), (.renewal, 1)]).jumps == [nil, nil])
    let jump = CounterJump(from: 0, to: 2, changes: 0, previous: 0)
    #expect(jumps([(.productChange, nil), (.renewal, 2)]).jumps == [nil, jump])
  }

  @Test("A jump reports the previous count, and the changes that may count in between")
  func jump() {
    let charges: [(ChargeKind, Int32?)] = [
      (.first, 0), (.renewal, 1), (.productChange, nil), (.renewal, nil), (.renewal, 5),
    ]
    let jump = CounterJump(from: 2, to: 5, changes: 1, previous: 1)
    #expect(jumps(charges).jumps.last == jump && jump.between == 2)
  }

  @Test("A lower count is ignored, except that of a renewal")
  func lower() {
    #expect(jumps([(.first, nil), (.renewal, 4), (.first, 0)]).count == 4)
    #expect(jumps([(.first, nil), (.renewal, 4), (.renewal, 2)]).count == 2)
  }
}
