import Testing
import Domain

@Suite("When and where deliveries come")
struct DeliveryTests {
  @Test("A provider can still deliver until its last retry, else for a day")
  func windows() {
    let rules = FoldSettings(asOf: Instant(seconds: 0))
    for provider in Provider.allCases {
      let last = provider.interface.retries.lastDelay
      let window = rules.deliveryWindow(provider)
      #expect(window == (last > .seconds(0) ? last : .days(1)), "\(provider.name)")
    }
    #expect(rules.deliveryWindow(.flobuk) == .minutes(41 * 60 + 10))
  }

  @Test("Places stand in the order of archives, then of lines, then of bytes")
  func places() {
    let places = [
      Provenance(archive: 1, line: 2, byteOffset: 30),
      Provenance(archive: 1, line: 2, byteOffset: 31),
      Provenance(archive: 1, line: 3, byteOffset: 0),
      Provenance(archive: 2, line: 1, byteOffset: 0),
    ]
    #expect(places.reversed().sorted() == places)
  }

  @Test("An event arrived when it was received, else when it was made, else when it happened")
  func arrival() {
    var event = Event(kind: .renewed, time: Instant(seconds: 1))
    #expect(event.arrivedAt == Instant(seconds: 1))
    event.created = Instant(seconds: 2)
    #expect(event.arrivedAt == Instant(seconds: 2))
    event.received = Instant(seconds: 3)
    #expect(event.arrivedAt == Instant(seconds: 3))
  }

  @Test(
    "An id is a plain number when the digits of the number are the id again",
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
