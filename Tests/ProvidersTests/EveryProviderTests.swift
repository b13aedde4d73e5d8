import Testing
import Domain

@testable import Providers

@Suite("The sample lines of every provider")
struct EveryProviderTests {
  @Test("Every line gives the result in its table", arguments: Provider.allCases)
  func lines(provider: Provider) throws {
    let sample = try SampleLines(provider)
    #expect(sample.header == SampleLines.notes + SampleReporter.columns)
    #expect(sample.lines.count >= 10)
    var reporter = SampleReporter()
    for (index, text) in sample.lines.enumerated() {
      let reported = reporter.rows(of: text, line: index + 1)
      let expected = sample.rows.filter { $0.line == index + 1 }.map(\.cells)
      #expect(!reported.isEmpty && reported == expected, "line \(index + 1) of \(provider.name)")
    }
  }

  @Test("One file can contain lines of all providers")
  func mixed() throws {
    let samples = try Provider.allCases.map { try SampleLines($0) }
    let longest = samples.map(\.lines.count).max() ?? 0
    let lines = (0..<longest).flatMap { index in
      samples.compactMap { index < $0.lines.count ? $0.lines[index] : nil }
    }
    let together = normalise(lines.joined(separator: "\n"))
    let alone = lines.map { normalise($0) }
    #expect(together.events.map(\.identity) == alone.flatMap { $0.events.map(\.identity) })
    #expect(together.rejects.map(\.detail) == alone.flatMap { $0.rejects.map(\.detail) })
    #expect(together.lines == Int64(lines.count))
    let skipped = together.skipped.values.reduce(0, +)
    let taken = Int64(Set(together.values).count + together.rejects.count) + skipped
    #expect(taken == together.lines, "each line has events, or a reason why it has none")
  }

  @Test("Purple's version may be a number")
  func version() throws {
    let line = try #require(try SampleLines(.purple).lines.first)
    for (version, isRead) in [("1.0", true), ("1", true), ("2.0", false), ("{}", false)] {
      let batch = normalise(line.replacing(#""version":"1.0""#, with: #""version":\#(version)"#))
      #expect(batch.rejects.isEmpty == isRead && batch.events.isEmpty != isRead, "\(version)")
    }
  }

  @Test("The offer of a purchase is kept, as an id or as an introductory offer")
  func offers() throws {
    func offer(_ line: String) -> String {
      let batch = normalise(line)
      return batch.symbols.words[Int(batch.events.first?.offer ?? -1)]
    }
    let purple = try #require(try SampleLines(.purple).lines.first)
    #expect(offer(purple).isEmpty)
    let introductory = #""introOfferPeriod":"true""#
    #expect(offer(purple.replacing(#""introOfferPeriod":"false""#, with: introductory)) == "intro")
    func iaptic(_ members: String) -> String {
      """
      {"type":"purchases.updated","applicationUsername":"u","purchases":{"apple:pro":{\
      "productId":"apple:pro","purchaseId":"apple:1","platform":"apple",\(members)\
      "purchaseDate":"2025-07-08T18:40:00.000Z","expirationDate":"2025-08-08T18:40:00.000Z"}}}
      """
    }
    #expect(offer(iaptic(#""isIntroPeriod":false,"#)).isEmpty)
    #expect(offer(iaptic(#""isIntroPeriod":true,"#)) == "intro")
    #expect(offer(iaptic(#""isIntroPeriod":true,"discountId":"spring","#)) == "spring")
    #expect(offer(iaptic(#""discountId":"spring","#)) == "spring")
  }

  @Test("iaptic's quantity is kept, and its amounts cover all units")
  func quantity() throws {
    for (quantity, units) in [("3", 3), ("\"2\"", 2), ("1", 1), ("0", 1), ("null", 1), ("1.5", 1)]
      as [(String, Int32)]
    {
      let batch = normalise(
        """
        {"type":"purchases.updated","applicationUsername":"u","purchases":{"apple:coins":{\
        "productId":"apple:coins","purchaseId":"apple:1","platform":"apple",\
        "quantity":\(quantity),"currency":"EUR","amountMicros":3000000,\
        "purchaseDate":"2025-07-08T18:40:00.000Z"}}}
        """)
      let event = try #require(batch.events.first)
      #expect(event.units == units && event.revenue?.local == Amount(micros: 3_000_000))
    }
  }

  @Test("No secret or personal data of any line is kept")
  func canaries() throws {
    for provider in Provider.allCases {
      let lines = try SampleLines(provider).lines
      #expect(lines.contains { $0.contains("canary") }, "\(provider.name) has a line to watch")
      let batch = normalise(lines.joined(separator: "\n"))
      let kept =
        batch.symbols.words + batch.skipped.keys + batch.rejects.flatMap { [$0.reason, $0.detail] }
        + [String(decoding: batch.arena, as: UTF8.self)]
      for secret in ["canary", "@example", "Basic ", "00000000-0000-4000"] {
        #expect(!kept.contains { $0.contains(secret) }, "\(secret) of \(provider.name)")
      }
    }
  }
}
