import Glibc
import Synchronization
import TestSupport
import Testing

@testable import Pipeline

@Suite("Work in parallel") struct WorkersTests {
  @Test(
    "Results are delivered in order and no worker waits forever, for any waiting limit",
    .timeLimit(.minutes(1)), arguments: [0, 1, 2, 24])
  func inOrder(waitingMax: Int) throws {
    for seed in 0..<UInt64(60) {
      // Random pauses make the workers fall behind each other in every way.
      let inputs = Array(0..<12)
      var taken: [[Int]] = []
      try Workers(count: 3, waitingMax: waitingMax).run(inputs) { input, send in
        var numbers = SeededNumbers(seed: seed &* 100 &+ UInt64(input))
        for part in 0..<Int.random(in: 0..<4, using: &numbers) {
          usleep(UInt32.random(in: 0..<60, using: &numbers))
          try send(part)
        }
      } take: { index, part in
        taken.append([index, part])
      }
      let expected = inputs.flatMap { input in
        var numbers = SeededNumbers(seed: seed &* 100 &+ UInt64(input))
        return (0..<Int.random(in: 0..<4, using: &numbers)).map { [input, $0] }
      }
      #expect(taken == expected)
    }
  }

  @Test("A value that workers pass on is never held by two, and none is lost")
  func handedOn() throws {
    let sums = Pool<Int>()
    try Workers(count: 3, waitingMax: 1).run(Array(1...300)) { input, send in
      let sum = sums.take() ?? 0
      sums.put(sum + input)
      try send(())
    } take: { _, _ in
    }
    var held: [Int] = []
    while let sum = sums.take() { held.append(sum) }
    #expect(held.count <= 3 && held.reduce(0, +) == 300 * 301 / 2)
  }

  @Test("Large results wait only if there is room, except the next one in order")
  func sizes() throws {
    let waiting = Mutex((now: 0, most: 0))
    try Workers(count: 3, waitingMax: 12).run(Array(1...12)) { input, send in
      for _ in 0..<4 {
        try send(input)
        waiting.withLock {
          $0.now += input
          $0.most = max($0.most, $0.now)
        }
      }
    } size: {
      $0
    } take: { _, size in
      usleep(500)
      waiting.withLock { $0.now -= size }
    }
    // One result may be the next in order, and one is with the consumer.
    waiting.withLock { #expect($0.now == 0 && $0.most <= 12 + 12 + 12) }
  }

  @Test("An error thrown by the consumer ends the work")
  func stopped() {
    struct Enough: Error {}
    #expect(throws: Enough.self) {
      try Workers(count: 2, waitingMax: 1).run(Array(0..<100)) { input, send in
        while true { try send(input) }
      } take: { _, _ in
        throw Enough()
      }
    }
  }
}
