import Testing
import Domain

@Suite("When and where deliveries arrive")
struct DeliveryTests {
  @Test(
    "A provider can deliver until its last retry plus the tolerance for it",
    arguments: [
      (Provider.qonversion, Interval.hours(27)), (.flobuk, .minutes(46 * 60 + 20)),
      (.iaptic, .hours(27)), (.purple, .hours(27)),
    ])
  func windows(provider: Provider, window: Interval) {
    let schedule = provider.interface.retries
    #expect(FoldSettings(asOf: Instant(seconds: 0)).deliveryWindow(provider) == window)
    #expect(schedule.attempt(after: window.milliseconds / 1000) == nil)
    var event = Event(provider: provider, kind: .renewed, time: Instant(seconds: 0))
    for second in -300...300 {
      event.received = event.time + window + .seconds(Int64(second))
      #expect(event.isLate(window) == (second > 0))
    }
  }

  @Test("A schedule's window ends an eighth after the last retry, rounded up to five minutes")
  func rounding() throws {
    let half = try #require(RetrySchedule(retriesAfter: [1_800]))
    #expect(half.deliveryWindow == .minutes(40))
    let odd = try #require(RetrySchedule(retriesAfter: [60, 7_201]))
    #expect(odd.deliveryWindow == .minutes(140))
  }

  @Test(
    "A feed that creates its messages late waits longer, in hours that double",
    arguments: [
      (0, 0), (300, 0), (301, 1), (3_600, 1), (3_601, 2), (18_000, 8), (360_000, 128),
      (464_400, 168), (9_999_999, 168),
    ] as [(Int64, Int64)])
  func lag(seconds: Int64, hours: Int64) {
    let allowance = FoldSettings.allowance(for: .seconds(seconds))
    #expect(allowance == .hours(hours))
    let feed = Feed(provider: .qonversion, app: 1)
    var rules = FoldSettings(asOf: Instant(seconds: 10_000_000))
    rules.creationLags[feed] = allowance
    #expect(rules.settlingWindow(of: feed) == .hours(27 + hours))
    #expect(rules.endsAreFinal(until: feed) == rules.asOf - .hours(51 + hours))
    #expect(rules.settlingWindow(of: Feed(provider: .qonversion, app: 2)) == .hours(27))
    #expect(rules.deliveryWindow(.qonversion) == .hours(27))
  }

  @Test("Provenance is sorted by archive, then line, then byte")
  func places() {
    let places = [
      Provenance(archive: 1, line: 2, byteOffset: 30),
      Provenance(archive: 1, line: 2, byteOffset: 31),
      Provenance(archive: 1, line: 3, byteOffset: 0),
      Provenance(archive: 2, line: 1, byteOffset: 0),
    ]
    #expect(places.reversed().sorted() == places)
  }

  @Test("An event's arrival is its receipt, else its creation, else its own time")
  func arrival() {
    var event = Event(kind: .renewed, time: Instant(seconds: 1))
    #expect(event.arrivedAt == Instant(seconds: 1))
    event.created = Instant(seconds: 2)
    #expect(event.arrivedAt == Instant(seconds: 2))
    event.received = Instant(seconds: 3)
    #expect(event.arrivedAt == Instant(seconds: 3))
  }

  @Test(
    "An id is stored as a number when the number prints as the same id",
    arguments: [
      ("0", 0), ("7", 7), ("999999999999999999", 999_999_999_999_999_999), ("", nil),
      ("1000000000000000000", nil), ("07", nil), ("00", nil), ("7a", nil), ("-7", nil),
    ] as [(String, Int64?)])
  func plainNumbers(id: String, number: Int64?) {
    var bytes = id
    #expect(bytes.withUTF8 { Int64(plainNumber: UnsafeRawBufferPointer($0)) } == number)
    if let number { #expect(transactionKey(id) == number) }
  }
}
