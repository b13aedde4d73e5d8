import Testing

@testable import Nightly

@Test("A number is explained by rows whose keys have the very bytes that are asked for")
func exactKeys() {
  let key = NumberQuestion.Key(column: .product, place: 0, text: "caf\u{e9}")
  #expect(key.fits("caf\u{e9}") && key.fits(printed: "caf\u{e9}"))
  #expect(!key.fits("cafe\u{301}") && !key.fits(printed: "cafe\u{301}"))
}
