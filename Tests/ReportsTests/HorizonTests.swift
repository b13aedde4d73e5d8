import Testing
import Domain

@testable import Reports

@Suite("The instant up to which numbers are complete")
struct HorizonTests {
  let feed = Feed(provider: .qonversion, app: 1)
  let asOf = day(2026, 3, 10)

  @Test("Money and trials wait for the delivery window, subscriptions also for the renewal gap")
  func windows() {
    let horizon = Reports.horizon(of: feed, by: rules(watermark: asOf))
    #expect(horizon.booked == asOf - .hours(27))
    #expect(horizon.settled == asOf - .hours(51))
    #expect(horizon.ended == asOf - .hours(27))
  }

  @Test("Nothing is complete beyond the newest input")
  func watermark() {
    let newest = asOf - .hours(47)
    let horizon = Reports.horizon(of: feed, by: rules(watermark: newest))
    #expect(horizon.booked == newest)
    #expect(horizon.settled == asOf - .hours(51))
    #expect(horizon.ended == newest)
  }

  @Test("In stale input, nothing after the last settled end is complete")
  func stale() {
    let newest = asOf - .days(5)
    let horizon = Reports.horizon(of: feed, by: rules(watermark: newest))
    #expect(horizon.booked == newest - .hours(51))
    #expect(horizon.settled == newest - .hours(51))
    #expect(horizon.ended == newest - .hours(51))
  }

  @Test("Each provider has its own delivery window")
  func flobuk() {
    let flobuk = Feed(provider: .flobuk, app: 1)
    let horizon = Reports.horizon(of: flobuk, by: FoldSettings(asOf: asOf))
    #expect(horizon.booked == asOf - .minutes(46 * 60 + 20))
  }

  private func rules(watermark: Instant) -> FoldSettings {
    var rules = FoldSettings(asOf: asOf)
    rules.watermarks = [feed: Watermark(of: feed, newest: watermark, begin: watermark)]
    return rules
  }
}
