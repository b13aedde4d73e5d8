import Testing

@testable import Page

@Suite("Axes enclose every value with round numbers")
struct ScaleTests {
  private let unit: Int128 = 1_000_000

  @Test(
    "Ticks enclose the values in even, round steps",
    arguments: [
      (0, 7), (0, 1), (-3, 0), (-250, 990), (999_999_999, 1_000_000_000), (0, 1_000_000_000),
      (-1_000_000_000_000, 1_000_000_000_000),
    ] as [(Int128, Int128)])
  func enclosing(low: Int128, high: Int128) throws {
    let ticks = ticks(from: low * unit, to: high * unit)
    let (first, last) = (try #require(ticks.first), try #require(ticks.last))
    #expect(first <= low * unit && last >= high * unit)
    #expect((2...7).contains(ticks.count))
    let steps = Set(zip(ticks, ticks.dropFirst()).map { $1 - $0 })
    #expect(steps.count == 1)
    let digits = String(try #require(steps.first)).replacing("0", with: "")
    #expect(["1", "2", "5"].contains(digits))
  }

  @Test("An axis without extent has zero and the value")
  func flat() {
    #expect(ticks(from: 0, to: 0) == [0])
    #expect(ticks(from: 5, to: 5) == [0, 5])
    #expect(Scale(low: 0, high: 0, length: 100).place(0) == 50)
  }

  @Test("Counts have no half ticks")
  func whole() {
    #expect(ticks(from: 0, to: 2 * unit, least: unit) == [0, unit, 2 * unit])
    #expect(ticks(from: 0, to: unit, least: unit) == [0, unit])
    #expect(ticks(from: 0, to: unit) == [0, unit / 2, unit])
  }

  @Test("A position has few decimals, and is 0 if it is not finite")
  func places() {
    #expect(decimal(12.3456, hundredths: true) == "12.35")
    #expect(decimal(12.3456, hundredths: false) == "12.3")
    #expect(decimal(-0.04, hundredths: false) == "0")
    #expect(decimal(-7.05, hundredths: true) == "-7.05")
    #expect(decimal(.nan, hundredths: true) == "0")
    #expect(decimal(.infinity, hundredths: true) == "0")
  }
}
