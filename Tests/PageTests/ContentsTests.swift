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

  @Test("A billion and a loss fit on the page")
  func great() throws {
    let page = try page([
      "2026-01,qonversion,a,app_store,1000000000.00,2000000000.00,-1000000000.00"
    ])
    #expect(page.contains("−1,000,000,000.00"))
  }

  /// The page of a set with these revenue rows: keys, gross, refunds and net.
  private func page(_ rows: [String]) throws -> String {
    let names = [
      "period", "provider", "app_id", "store", "gross_usd", "refunds_usd", "net_usd",
      "proceeds_usd", "charges", "refunds", "amount_basis", "is_complete",
    ]
    let folder = try TemporaryFolder()
    let lines = rows.map { "\($0),1.00,1,0,provider,true\n" }
    try folder.write(
      names.joined(separator: ",") + "\n" + lines.joined(), to: "revenue_monthly.csv")
    var manifest = Manifest(version: "1", asOf: Instant(seconds: 1_770_000_000), timeZone: "UTC")
    manifest.resources = [
      ReportTable(
        path: "revenue_monthly.csv", rows: Int64(rows.count),
        columns: names.map { name in
          let isNumber = name.hasSuffix("_usd") || ["charges", "refunds"].contains(name)
          return ReportColumn(
            name: name, format: isNumber ? .amount : .text, unit: nil, description: name)
        })
    ]
    try writePage(of: ReportSet(in: folder.path("."), manifest), in: .en)
    return try String(contentsOfFile: folder.path("index.html"), encoding: .utf8)
  }
}
