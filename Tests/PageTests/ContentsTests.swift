import Domain
import Foundation
import TestSupport
import Testing

@testable import Page
@testable import Reports

@Suite("The page can be built from any set")
struct ContentsTests {
  @Test("Of forty apps, six have their own column and the others share one")
  func manyApps() throws {
    let rows = (0..<40).map { app in
      "2026-01,qonversion,app-\(app),app_store,\(app + 1).50,,\(app + 1).50"
    }
    let page = try page(rows)
    #expect(page.contains(">34 others</a>"))
    #expect(page.contains(">app-39</a>") && !page.contains(">app-33</a>"))
    #expect(page.contains("data-where=\"app_id!=app-39|app-38|app-37|app-36|app-35|app-34\""))
  }

  @Test("An earlier month that is not complete is named beside the last complete one")
  func earlierMonth() throws {
    let months = ["2025-11", "2025-12", "2026-01"]
    let rows = months.map { "\($0),qonversion,a,app_store,1.00,,1.00" }
    #expect(
      try page(rows, open: "2025-11").contains(
        "Revenue is complete through January 2026 except November 2025, subscriptions"))
    #expect(try page(rows, open: "2026").contains("complete through December 2025, subscriptions"))
  }

  @Test("Seven apps have a column each")
  func sevenApps() throws {
    let rows = (0..<7).map { "2026-01,qonversion,app-\($0),app_store,1.00,,1.00" }
    let page = try page(rows)
    #expect(!page.contains("others</a>"))
    #expect(page.contains(">app-6</a>"))
  }

  @Test("Refunds that are never reported are unknown; refunds that did not happen are zero")
  func unknown() throws {
    let page = try page(["2026-01,purple,a,app_store,1.00,,1.00"])
    #expect(page.contains("<td>–</td>"))
    let known = try self.page(["2026-01,purple,a,app_store,1.00,0.00,1.00"])
    #expect(!known.contains("<td>–</td>") && known.contains("<td class=\"z\">0.00</td>"))
  }

  @Test("Foreign names are escaped in HTML and in filters")
  func hostile() throws {
    let page = try page(["2026-01,qonversion,<i>;=|%,app_store,1.00,,1.00"])
    #expect(page.contains(">&lt;i&gt;;=|%</a>") && !page.contains("<i>"))
    #expect(page.contains("data-where=\"app_id=&lt;i&gt;%3B%3D%7C%25\""))
  }

  @Test("A name reads on the page and in filters as in its cell")
  func visible() throws {
    let page = try page([#"2026-01,qonversion,a\u{200f}\u{5c}u{41},app_store,1.00,,1.00"#])
    #expect(page.contains(#"data-where="app_id=a\u{200f}\u{5c}u{41}""#))
    #expect(page.contains(#">a\u{200f}\u{5c}u{41}</a>"#))
  }

  @Test("A billion and a loss fit on the page")
  func great() throws {
    let page = try page([
      "2026-01,qonversion,a,app_store,1000000000.00,2000000000.00,-1000000000.00"
    ])
    #expect(page.contains("−1,000,000,000.00"))
  }

  @Test("Input that has stopped is shown, however many breaks are worth more")
  func stopped() throws {
    let row = #"qonversion,a\u{ad}b,app_store"#
    let lost = (10..<30).map { "b-\($0),MISSED_RENEWAL,open,high,\(row),,1,\($0).00,lost,wait" }
    let stale = "b-99,STALE_INPUT,open,high,\(row),,0,,silent for days,look"
    let revenue = ["2026-01,qonversion,a,app_store,1.00,,1.00"]
    let page = try page(revenue, breaks: lost + [stale])
    #expect(page.contains("<h3>Input has stopped</h3>") && page.contains("silent for days</p>"))
    #expect(page.contains("b-29</a>") && !page.contains("b-19</a>"))
    #expect(page.contains(#"a\u{ad}b"#) && !page.contains("u{5c}"))
    #expect(try !self.page(revenue, breaks: lost).contains("Input has stopped"))
  }

  /// The page of a set with these revenue rows (keys, gross, refunds and net) and breaks.
  private func page(
    _ rows: [String], breaks: [String] = [], open: String = "-"
  ) throws -> String {
    let folder = try TemporaryFolder()
    var manifest = Manifest(version: "1", asOf: Instant(seconds: 1_770_000_000), timeZone: "UTC")
    let tables = [
      (
        "revenue_monthly.csv",
        "period,provider,app_id,store,gross_usd,refunds_usd,net_usd,proceeds_usd,charges,refunds,"
          + "amount_basis,is_complete",
        rows.map { "\($0),1.00,1,0,provider,\(!$0.hasPrefix(open))" }
      ),
      (
        "breaks.csv",
        "break_id,code,status,severity,provider,app_id,store,evidence_expires_at,missing_events,"
          + "estimated_usd,evidence,action", breaks
      ),
    ]
    for (path, header, rows) in tables {
      try folder.write(([header] + rows).joined(separator: "\n") + "\n", to: path)
      let columns = header.split(separator: ",").map { name in
        let isNumber =
          name.hasSuffix("_usd") || ["charges", "refunds", "missing_events"].contains(name)
        return ReportColumn(
          name: String(name), format: isNumber ? .amount : .text, unit: nil,
          description: String(name))
      }
      manifest.resources.append(
        ReportTable(path: path, rows: Int64(rows.count), columns: columns))
    }
    let set = ReportSet(in: folder.path("."), manifest)
    let sums = SetSums(try SetSums.shapes.map { try Cube($0, of: set) })
    try writePage(of: set, sums, in: .en)
    return try String(contentsOfFile: folder.path("index.html"), encoding: .utf8)
  }
}
