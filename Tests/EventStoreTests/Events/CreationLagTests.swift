import EventStore
import Testing
import Domain

@Suite("How long after an event its message is created")
struct CreationLagTests {
  private let lines = (0..<2_500).map { number in
    Line(transaction: "\(number)", created: Int64(number) * 7_919 % 10_007)
  }

  /// The feeds' lags, and the sample they are computed from.
  private func measured(_ archives: [[Line]]) throws -> (lags: [Interval], sample: [String]) {
    let ledger = try Ledger.fresh()
    for (index, lines) in archives.enumerated() { try ledger.ingest("archive \(index)", lines) }
    return (
      Array(try ledger.creationLags().values),
      try ledger.table("select identity, lag_s from creation_lag order by identity")
    )
  }

  @Test("All events except the slowest are within the lag")
  func slowest() throws {
    let few = (1...20).map { Line(transaction: "\($0)", created: Int64($0) * 100) }
    #expect(try measured([few]).lags == [.seconds(1_900)])
    #expect(try measured([[Line(created: 5_000)]]).lags == [.seconds(0)])
    #expect(
      try measured([[Line(created: -5), Line(transaction: "2", created: -5)]]).lags == [.seconds(0)]
    )
    #expect(try measured([[Line(), Line(transaction: "2", received: 9_000)]]).lags == [])
  }

  @Test("Neither order nor split nor repetition of deliveries changes the sample")
  func orderFree() throws {
    let once = try measured([lines])
    #expect(once.sample.count == 1_000)
    #expect(once.lags.count == 1 && once.lags[0] > .hours(2))
    for archives in [
      [Array(lines.reversed())], [Array(lines[1_700...]), Array(lines[..<1_700])],
      stride(from: 0, to: 2_500, by: 500).map { Array(lines[$0..<($0 + 500)]) },
      [lines, Array(lines[..<2_000]), [lines[7], lines[7]]],
    ] {
      let again = try measured(archives)
      #expect(again.sample == once.sample)
      #expect(again.lags == once.lags)
    }
  }

  @Test("Of several messages for one event, the slowest counts in any order")
  func copies() throws {
    let (first, second) = (Line(created: 60), Line(created: 4_000))
    let other = Line(transaction: "other", created: 9_000)
    #expect(try measured([[first, second, other]]).lags == [.seconds(4_000)])
    #expect(try measured([[other, second], [first]]).lags == [.seconds(4_000)])
  }
}
