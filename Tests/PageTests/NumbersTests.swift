import Testing

@testable import Page

@Suite("Numbers are formatted for people")
struct NumbersTests {
  @Test(
    "Each locale uses its own separators",
    arguments: [
      (PageLocale.en, "1,234,567.89"), (.de, "1.234.567,89"), (.fr, "1\u{202f}234\u{202f}567,89"),
      (.sv, "1\u{a0}234\u{a0}567,89"), (.deCH, "1’234’567.89"),
    ])
  func locales(locale: PageLocale, expected: String) {
    #expect(Numbers(locale: locale).text(1_234_567_890_000, .usd) == expected)
  }

  @Test("Cents are rounded half to even, and a value that rounds to zero has no sign")
  func rounding() {
    let numbers = Numbers(locale: .en)
    #expect(numbers.text(125_000, .usd) == "0.12")
    #expect(numbers.text(135_000, .usd) == "0.14")
    #expect(numbers.text(-4_000, .usd) == "0.00")
    #expect(numbers.text(-1_999_000_000, .usd) == "−1,999.00")
    #expect(numbers.text(33_333, .percent) == "3.3%")
    #expect(numbers.text(nil, .count) == "–")
  }

  @Test("A change has its sign, unless it rounds to nothing")
  func signed() {
    let numbers = Numbers(locale: .de)
    #expect(numbers.signed(33_333, .percent) == "+3,3\u{a0}%")
    #expect(numbers.signed(-33_333, .percent) == "−3,3\u{a0}%")
    #expect(numbers.signed(333, .percent) == "0,3\u{a0}%".replacing("3", with: "0"))
  }

  @Test("Axes shorten thousands, millions and billions")
  func axis() {
    let numbers = Numbers(locale: .en)
    let unit: Int128 = 1_000_000
    #expect(numbers.axis(500 * unit, .usd) == "500")
    #expect(numbers.axis(2_500 * unit, .usd) == "2.5\u{a0}k")
    #expect(numbers.axis(-20_000_000 * unit, .usd) == "−20\u{a0}M")
    #expect(numbers.axis(1_000_000_000 * unit, .usd) == "1\u{a0}bn")
    #expect(numbers.axis(unit / 5, .usd) == "0.2")
  }

  @Test("Foreign text is never markup, and all of it is visible")
  func hostile() {
    #expect(asHTML("<b a='1'>\"&") == "&lt;b a=&#39;1&#39;&gt;&quot;&amp;")
    #expect(asHTML("a\u{202e}b\u{0}") == "a\\u{202e}b\\u{0}")
    #expect(asHTML("häppchen 🍏") == "häppchen 🍏")
  }
}
