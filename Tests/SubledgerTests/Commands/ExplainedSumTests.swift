import Foundation
import TestSupport
import Testing

extension ExplainCommandTests {
  /// The printed number for one column.
  private func value(_ words: [String]) throws -> String? {
    let result = try program.run(["explain"] + words + ["--format", "json"]).ended(0)
    for line in result.output.split(separator: "\n") {
      let tree = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
      if tree?["is"] as? String == "number" { return tree?["value"] as? String }
    }
    return nil
  }

  private func sum(_ column: String, of rows: [[String: String]]) -> Decimal {
    rows.reduce(0) { $0 + (Decimal(string: $1[column] ?? "") ?? 0) }
  }

  @Test(
    "Over all months a balance is its first or last value, and movements are summed",
    arguments: [
      ("mrr_monthly", "mrr_close", "mrr_open", "fx"),
      ("mrr_monthly", "arr_close", "mrr_open", "churned"),
      ("churn_monthly", "active_close", "active_open", "new"),
      ("churn_monthly", "auto_renew_off", "active_open", "churned"),
    ])
  func balances(report: String, close: String, open: String, moved: String) throws {
    let rows = try program.rows("\(report).csv").filter { $0["provider"] == "qonversion" }
    let last = rows.filter { $0["period"] == rows.last?["period"] }
    let first = rows.filter { $0["period"] == rows.first?["period"] }
    #expect(Set(rows.compactMap { $0["period"] }).count > 2 && last.count > 1)
    for (column, expected) in [(close, last), (open, first), (moved, rows)] {
      let words = [report, "provider=qonversion", column]
      #expect(try value(words).flatMap { Decimal(string: $0) } == sum(column, of: expected))
      #expect(try sum(lines(words), column) == sum(column, of: expected), "\(column)")
    }
  }

  @Test("Local amounts are summed per currency, and without its name if there is only one")
  func currencies() throws {
    let rows = try program.rows("revenue_monthly.csv").filter {
      $0["provider"] == "qonversion" && $0["period"] == "2026-01"
    }
    let amounts = Dictionary(grouping: rows) { $0["currency"] ?? "" }
      .mapValues { sum("net_local", of: $0) }
    #expect(amounts.count > 2)
    let words = ["revenue_monthly", "provider=qonversion", "period=2026-01"]
    let split = try #require(try value(words + ["net_local"])).components(separatedBy: ", ")
    #expect(split.count == amounts.count && split == split.sorted())
    for text in split {
      let parts = text.split(separator: " ").map(String.init)
      #expect(Decimal(string: parts[1]) == amounts[parts[0]], "\(text)")
    }
    let euros = try #require(try value(words + ["currency=EUR", "net_local"]))
    #expect(Decimal(string: euros) == amounts["EUR"])
    let dollars = try #require(try value(words + ["net_usd"]))
    #expect(Decimal(string: dollars) == sum("net_usd", of: rows))
  }

  @Test("A column that cannot be summed is refused with the keys that select one row")
  func refused() throws {
    let rate = ["churn_monthly", "provider=qonversion", "store=play_store", "churn_rate"]
    let eligible = ["retention_monthly", "cohort=2025-03", "eligible"]
    let hints = ["give period, app_id, product_id", "give period_index"]
    for (words, hint) in zip([rate, eligible], hints) {
      let result = try program.run(["explain"] + words)
      #expect(result.status == 64 && result.output.isEmpty, "\(result)")
      #expect(result.errors.contains("\(words.last ?? "") does not add up over"), "\(result)")
      #expect(result.errors.contains(hint), "\(result)")
    }
    let all = try program.run(["explain"] + rate.dropLast())
    #expect(all.status == 0 && all.output.contains("churn_rate does not add up over"), "\(all)")
    let rows = try program.rows("retention_monthly.csv").filter {
      $0["cohort"] == "2025-03" && $0["period_index"] == "1"
    }
    let months = try #require(try value(eligible.dropLast() + ["period_index=1", "eligible"]))
    #expect(rows.count > 1 && Decimal(string: months) == sum("eligible", of: rows))
  }
}
