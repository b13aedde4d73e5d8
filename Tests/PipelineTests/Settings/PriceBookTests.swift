import Foundation
import TestSupport
import Testing
import Domain

@testable import EventStore
@testable import Pipeline

private let header = PriceBookFile.header

/// A product in any country, for any currency.
private func sold(_ product: StringID, in store: Store) -> PricedProduct {
  PricedProduct(product: product, store: store, currency: 0)
}

@Suite("A price book is read completely, or refused with every reason")
struct PriceBookTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func read(
    _ lines: String..., calendar: CivilCalendar = .utc
  ) throws -> PriceBookFile {
    let text = ([header] + lines).joined(separator: "\n")
    return try PriceBookFile(Array(text.utf8), named: "prices.csv", calendar: calendar)
  }

  private func refusal(_ text: String) throws -> SubledgerError {
    try #require(throws: SubledgerError.self) {
      try PriceBookFile(Array(text.utf8), named: "prices.csv", calendar: .utc)
    }
  }

  @Test("Each field is read exactly, and an empty one means any or unknown")
  func fields() throws {
    let list = try read(
      "play_store,pro,DE,EUR,2026-01-01,9.990001,10.5,85,P1M", ",coins,,,2026-01-01,,0,,")
    let price = try #require(list.lines.first)
    #expect(price.key.store == .playStore && price.key.product.text == "pro")
    #expect(price.key.country == "DE" && price.key.currency == "EUR")
    #expect(price.local == Amount(micros: 9_990_001) && price.usd == Amount(micros: 10_500_000))
    #expect(price.rate == Amount(micros: 85_000_000) && price.period == .months(1))
    let coins = list.lines[1]
    #expect(coins.key.store == .unknown && coins.key.country.isEmpty)
    #expect(coins.local == nil && coins.usd == .zero && coins.rate == nil && coins.period == nil)
  }

  @Test("A product's period is that of the line that began last, even if no one bought it")
  func periods() throws {
    let list = try read(
      ",pro,,USD,2026-03-01,9.99,,,P3M", ",pro,,USD,2026-01-01,9.99,,,P1M",
      ",pro,DE,EUR,2026-04-01,9.99,11,,")
    let march = Instant(seconds: 1_772_323_200)
    #expect(list.periods(at: march) == ["pro": .months(3)])
    #expect(list.periods(at: march - .seconds(1)) == ["pro": .months(1)])
    #expect(list.periods(at: march - .days(300)) == [:])
  }

  @Test("An offer has its own prices, in an optional column")
  func offers() throws {
    let text =
      header + ",offer\n,pro,,,2026-01-01,,9,,P1M,\n,pro,,,2026-01-01,,1,,P1W,intro\n"
    let list = try PriceBookFile(Array(text.utf8), named: "offers.csv", calendar: .utc)
    #expect(list.lines.map(\.key.offer.text) == ["", "intro"])
    #expect(list.periods(at: list.lines[0].key.validFrom) == ["pro": .months(1)])
    let twice = "\n,pro,,,2026-01-01,,1,,,intro"
    #expect(try refusal(header + ",offer" + twice + twice).message.contains("repeats line 2"))
  }

  @Test("A price in US dollars needs only one of the two amounts")
  func dollars() throws {
    for line in [",pro,,USD,2026-01-01,9.99,,,", ",pro,,USD,2026-01-01,,9.99,,"] {
      let price = try #require(try read(line).lines.first)
      #expect(price.local == Amount(micros: 9_990_000) && price.usd == price.local)
    }
  }

  @Test("Products whose ids only look alike have separate prices")
  func alike() throws {
    let list = try read(",caf\u{e9},,,2026-01-01,,1,,", ",cafe\u{301},,,2026-01-01,,2,,")
    #expect(list.lines.compactMap(\.usd) == [1_000_000, 2_000_000].map(Amount.init(micros:)))
    let quoted = try read(",\"a\"\"\u{61a}\",,,2026-01-01,,1,,").lines[0].key
    let id = "a\"\u{61a}"
    #expect(quoted.product.text == id)
  }

  @Test("A date begins at midnight in the reports' time zone; an instant is exact")
  func begin() throws {
    let berlin = try #require(CivilCalendar(named: "Europe/Berlin"))
    let list = try read(
      ",a,,,2026-01-01,,1,,", ",a,,,2026-01-01T00:00:00Z,,1,,", calendar: berlin)
    let midnight = berlin.start(of: Day(year: 2026, month: 1, day: 1))
    #expect(list.lines.map(\.key.validFrom) == [midnight, midnight + .hours(1)])
  }

  @Test("The columns may be in any order, and each must exist once")
  func columns() throws {
    let shuffled =
      "period,product_id,store,country,currency,amount_usd,amount,proceeds_rate,valid_from"
    let text = shuffled + "\nP7D,a,,,,1.5,,,2026-01-01"
    let list = try PriceBookFile(Array(text.utf8), named: "shuffled.csv", calendar: .utc)
    let line = try #require(list.lines.first)
    #expect(line.period == .days(7) && line.usd == Amount(micros: 1_500_000))
    #expect(try refusal(shuffled + ",price").message.contains("line 1, column 10"))
    #expect(try refusal(header + ",store").message.contains("twice"))
    #expect(try refusal("store,product_id").message.contains("lacks amount"))
    #expect(try refusal("").message.contains("header is missing"))
  }

  @Test(
    "A wrong field is reported by line, column and reason",
    arguments: [
      ("steam,a,,,2026-01-01,,1,,", 1, "store"), (",,,,2026-01-01,,1,,", 2, "product_id"),
      (", a,,,2026-01-01,,1,,", 2, "blanks"), (",a ,,,2026-01-01,,1,,", 2, "blanks"),
      (",a,Germany,,2026-01-01,,1,,", 3, "country"), (",a,,eur,2026-01-01,,1,,", 4, "currency"),
      (",a,,,2026-02-30,,1,,", 5, "valid_from"), (",a,,,,,1,,", 5, "valid_from"),
      (",a,,,2026-01-01T00:00:00,,1,,", 5, "offset"),
      (",a,,EUR,2026-01-01,-1,,,", 6, "amount"), (",a,,EUR,2026-01-01,,,70,", 6, "amount"),
      (",a,,,2026-01-01,,1.1234567,,", 7, "amount_usd"),
      (",a,,,2026-01-01,,$1,,", 7, "amount_usd"),
      (",a,,,2026-01-01,,\"1,000\",,", 7, "amount_usd"),
      (",a,,,2026-01-01,,1,0.7,", 8, "proceeds_rate"),
      (",a,,,2026-01-01,,1,101,", 8, "proceeds_rate"), (",a,,,2026-01-01,,1,,1M", 9, "period"),
      (",a,,,2026-01-01,,1,", 8, "8 fields instead of 9"),
    ])
  func wrong(line: String, column: Int, named: String) throws {
    let error = try refusal(header + "\n,ok,,,2026-01-01,,1,,\n" + line)
    #expect(error.kind == .configuration, "\(error)")
    #expect(error.message.contains("prices.csv, line 3, column \(column): "))
    #expect(error.message.contains(named))
    #expect(error.hint.contains(header))
  }

  @Test("All wrong lines are reported at once, at most 20 of them")
  func several() throws {
    let wrong = (1...25).map { "steam,a\($0),,,2026-01-01,,1,," }.joined(separator: "\n")
    let message = try refusal(header + "\n" + wrong).message
    #expect(message.contains("line 2, column 1") && message.contains("line 21, column 1"))
    #expect(!message.contains("line 22, ") && message.contains("and 5 more"))
  }

  @Test("Two lines for the same key and start are refused, however the start is written")
  func duplicates() throws {
    let error = try refusal(
      """
      \(header)
      ,a,,EUR,2026-01-01,1,,,
      ,a,,USD,2026-01-01,1,,,
      ,a,,EUR,2026-01-01T00:00:00Z,2,,,
      """)
    #expect(error.message.contains("line 4, column 5: valid_from repeats line 2"))
  }

  @Test("The store `unknown` means every store, as an empty one does")
  func everyStore() throws {
    #expect(try read("unknown,a,,,2026-01-01,,1,,").lines[0].key.store == .unknown)
    let error = try refusal(header + "\nunknown,a,,,2026-01-01,,1,,\n,a,,,2026-01-01,,1,,")
    #expect(error.message.contains("repeats line 2"))
  }

  @Test("A missing file is missing input; malformed quotes are reported")
  func unreadable() throws {
    let missing = try #require(throws: SubledgerError.self) {
      try fileContents(
        of: "the price book", at: folder.path("none.csv"), givenWith: "--prices")
    }
    #expect("\(missing.kind)" == "noInput")
    #expect(try refusal(header + "\n\"a").message.contains("line 2, column 1: a quoted field"))
  }

  @Test("A line for a base plan takes precedence over one for its product, which covers all plans")
  func basePlans() throws {
    let ledger = try Ledger.open(path: folder.path("l.sqlite"), mode: .readWrite)
    try ledger.learn(["pro:month", "pro:year"])
    let list = try read(
      "play_store,pro,,,2026-02-01,,5,,P1M", "play_store,pro:year,,,2026-01-01,,40,,P1Y",
      ",pro:year,DE,,2026-03-01,,30,,")
    let book = try list.book(in: ledger).prices
    let may = CivilCalendar.utc.start(of: Day(year: 2026, month: 5, day: 1))
    func price(_ product: String, in store: Store = .playStore) throws -> [String?] {
      let symbol = try #require(ledger.symbol(product))
      let price = book.price(of: sold(symbol, in: store), at: may)
      return [
        price?.amounts.usd?.text(), book.period(of: symbol, in: store, at: may).map { "\($0)" },
      ]
    }
    #expect(try price("pro:month") == ["5.00", "months(1)"])
    #expect(try price("pro:year") == ["40.00", "months(12)"])
    #expect(try price("pro:month", in: .appStore) == [nil, nil])
  }

  @Test("A book adds unseen codes to the ledger, and prices products without events")
  func book() throws {
    let ledger = try Ledger.open(path: folder.path("l.sqlite"), mode: .readWrite)
    try ledger.learn(["pro"])
    let list = try read(
      "play_store,pro,,EUR,2026-01-01,10,11,85,P1M", ",pro,,,2026-03-01,,,,P1Y",
      ",unseen,,CHF,2026-01-01,1,,,")
    let (book, words) = try list.book(in: ledger)
    let pro = try #require(ledger.symbol("pro"))
    let euro = try #require(ledger.symbol("EUR"))
    let franc = try #require(ledger.symbol("CHF"))
    let may = CivilCalendar.utc.start(of: Day(year: 2026, month: 5, day: 1))
    let price = try #require(book.price(of: sold(pro, in: .playStore), at: may))
    #expect(price.amounts.currency == euro)
    #expect(price.amounts.local == Amount(micros: 10_000_000))
    let unseen = try #require(words.find("unseen"))
    #expect(ledger.symbol("unseen") == nil)
    #expect(book.price(of: sold(unseen, in: .appStore), at: may)?.amounts.currency == franc)
    // A line with only a period is not a price for other stores, and hides none.
    #expect(book.price(of: sold(pro, in: .appStore), at: may) == nil)
    #expect(book.period(of: pro, in: .appStore, at: may) == .months(12))
    let again = try Ledger.open(path: folder.path("l.sqlite"), mode: .readOnly)
    #expect(again.symbol("EUR") == euro)
  }
}
