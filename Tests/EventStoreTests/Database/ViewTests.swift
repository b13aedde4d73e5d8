import Domain
import Testing

@testable import EventStore

@Suite("Views of the ledger contain words and exact decimals")
struct ViewTests {
  let ledger: Ledger

  init() throws { ledger = try Ledger.fresh() }

  private func texts(_ sql: String) throws -> [String] {
    var texts: [String] = []
    try ledger.rows(sql: sql) { row in
      texts.append((0..<row.columnCount).map { row.text($0) }.joined(separator: " "))
    }
    return texts
  }

  private func requireWords<Code: NamedCode>(_ view: String, _: Code.Type) throws {
    let words = Code.allCases.map { "\($0.rawValue) \($0.name)" }.sorted()
    #expect(try texts("select id, word from \(view)").sorted() == words, "\(view)")
  }

  @Test("Every number has the word that the program prints")
  func words() throws {
    try requireWords("provider_word", Provider.self)
    try requireWords("store_word", Store.self)
    try requireWords("environment_word", Environment.self)
    try requireWords("basis_word", AmountBasis.self)
    try requireWords("product_type_word", ProductType.self)
    try requireWords("charge_kind_word", ChargeKind.self)
    try requireWords("movement_word", Movement.self)
    let silent = Provider.allCases.flatMap { provider in
      ProductType.allCases.filter { !provider.capabilities.sendsRefunds(of: $0) }
        .map { "\(provider.rawValue) \($0.rawValue)" }
    }
    #expect(
      try texts("select provider, product_type from provider_without_refunds").sorted()
        == silent.sorted())
  }

  @Test(
    "A decimal keeps its sign and all digits, next to its value in millionths",
    arguments: [
      (0, "0.00"), (5, "0.000005"), (-500_000, "-0.50"), (-1_230_000, "-1.23"),
      (1_999_999, "1.999999"), (12_000_000, "12.00"),
      (Int64.min, "-9223372036854.775808"), (.max, "9223372036854.775807"),
    ])
  func amounts(micros: Int64, text: String) throws {
    try ledger.rows(
      sql: "insert into movement_cell values (24310, 1, 0, 1, 0, 1, 1, ?)",
      arguments: [.integer(micros)]
    ) { _ in }
    #expect(
      try texts("select period, movement, mrr_usd, mrr_usd_micros from v_movement")
        == ["2025-11 new \(text) \(micros)"])
  }

  @Test(
    "A rate keeps its digits behind the point, and none that it does not need",
    arguments: [
      (70_000_000, "70"), (67_500_000, "67.5"), (12_345_678, "12.345678"), (5, "0.000005"),
      (-1, ""),
    ])
  func rates(millionths: Int64, text: String) throws {
    try ledger.rows(
      sql: """
        insert into revenue_cell
        values (20500, 1, 0, 1, 0, 0, 1, 0, 0, 0, ?, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
        """,
      arguments: [.integer(millionths)]
    ) { _ in }
    #expect(try texts("select proceeds_rate from v_revenue_daily") == [text])
  }
}
