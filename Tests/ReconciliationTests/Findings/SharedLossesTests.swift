import Reconciliation
import Testing
import Domain

@Suite("A loss that several providers miss is valued once")
struct SharedLossesTests {
  private func missed(
    _ provider: Provider, _ count: Int64, elsewhere: Int64 = 0, usd: Int64, on day: String
  ) -> Break {
    var found = Break(id: provider.name, code: .missedRenewal, provider: provider)
    (found.store, found.subscription, found.product) = (.playStore, "GPA.1", "monthly")
    (found.missingEvents, found.reportedElsewhere) = (count, elsewhere)
    (found.expectedAt, found.estimatedUSD) = (at(day), Amount(micros: usd * 1_000_000))
    return found
  }

  /// The worths in dollars, in the order of the breaks.
  private func worths(_ breaks: [Break]) -> [Int64?] {
    var valued = breaks
    valued.valueLossesOnce(by: FoldSettings(asOf: at("2026-08-01")), SeverityThresholds())
    return valued.map { $0.estimatedUSD.map { $0.micros / 1_000_000 } }
  }

  @Test("The provider that comes first keeps the worth of what both miss")
  func once() {
    let first = missed(.qonversion, 1, usd: 10, on: "2026-03-01")
    #expect(worths([first, missed(.flobuk, 1, usd: 11, on: "2026-03-01")]) == [10, 0])
    #expect(worths([first, missed(.flobuk, 3, usd: 33, on: "2026-03-01")]) == [10, 22])
    #expect(worths([first, missed(.flobuk, 1, usd: 11, on: "2026-04-01")]) == [10, 11])
  }

  @Test("Apple's two stores are one, because a snapshot has one name for both")
  func appleStores() {
    var breaks = [
      missed(.qonversion, 1, usd: 10, on: "2026-03-01"),
      missed(.flobuk, 1, usd: 11, on: "2026-03-01"),
    ]
    (breaks[0].store, breaks[1].store) = (.appStore, .macAppStore)
    #expect(worths(breaks) == [10, 0])
  }

  @Test("Several losses in one break are those of several breaks of another provider")
  func several() {
    var breaks = [missed(.qonversion, 3, usd: 30, on: "2026-03-01")]
    breaks += (3...5).map { missed(.flobuk, 1, usd: 11, on: month($0)) }
    for index in breaks.indices { breaks[index].periodLength = .days(30) }
    #expect(worths(breaks) == [30, 0, 0, 0])
    for index in breaks.indices {
      breaks[index].provider = breaks[index].provider == .flobuk ? .qonversion : .flobuk
    }
    #expect(worths(breaks) == [0, 11, 11, 11])
  }

  @Test("A provider whose feed can still bring it does not keep the worth of another's loss")
  func pending() {
    var first = missed(.qonversion, 1, usd: 10, on: "2026-03-01")
    let second = missed(.flobuk, 1, usd: 11, on: "2026-03-01")
    first.status = .pending
    #expect(worths([first, second]) == [0, 11])
  }

  @Test("Inferred dates of one charge differ by up to half a period")
  func inferredDates() {
    var breaks = [
      missed(.qonversion, 1, usd: 10, on: "2026-03-01"),
      missed(.flobuk, 1, usd: 11, on: "2026-03-05"),
    ]
    #expect(worths(breaks) == [10, 11])
    for index in breaks.indices { breaks[index].periodLength = .days(31) }
    #expect(worths(breaks) == [10, 0])
    breaks[1].product = "yearly"
    #expect(worths(breaks) == [10, 11])
    (breaks[1].product, breaks[1].expectedAt) = ("monthly", at("2026-03-15"))
    #expect(worths(breaks) == [10, 0])
    breaks[1].expectedAt = at("2026-03-18")
    #expect(worths(breaks) == [10, 11])
  }

  @Test("What a third provider reports is not taken off twice")
  func reportedElsewhere() {
    let breaks = [
      missed(.qonversion, 1, usd: 10, on: "2026-03-01"),
      missed(.flobuk, 3, elsewhere: 1, usd: 20, on: "2026-03-01"),
    ]
    #expect(worths(breaks) == [10, 10])
  }

  @Test("A loss of which a third provider reports the first event is shared for the later ones")
  func reportedFirst() {
    var breaks = [
      missed(.qonversion, 2, usd: 20, on: "2026-03-01"),
      missed(.flobuk, 3, elsewhere: 1, usd: 20, on: "2026-02-01"),
    ]
    for index in breaks.indices { breaks[index].periodLength = .days(30) }
    #expect(worths(breaks) == [20, 0])
    #expect(worths(breaks.reversed()) == [0, 20])
  }
}
