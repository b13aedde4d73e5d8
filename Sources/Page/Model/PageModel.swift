internal import Domain
internal import Reports

/// The content of the page in its order; the templates only arrange it.
struct PageModel {
  let asOf: String
  let zone: String
  let version: String
  let status: SetStatus
  let earned: [Figure]
  let missing: [Figure]
  let tasks: TaskList
  let figures: [ChartGroup]
  let breaks: [BreakGroup]
  let restatements: RestatementList
  let inputs: InputList
  let coverage: CoverageTable
  /// Every column that a number of the page is computed from, in the order of files and columns.
  let definitions: [PageItem]

  /// The columns that the templates name.
  private static let named = [
    "breaks": ["missing_events", "estimated_usd", "evidence_expires_at"],
    "refetch_worklist": ["missing_events", "at_stake_usd", "hours_left"],
    "restatements": ["published", "restated", "delta"],
  ].flatMap { report, columns in columns.map { Source(report: report, column: $0) } }

  init(_ contents: SetContents) throws {
    let manifest = contents.set.manifest
    asOf = minute(manifest.asOf.text)
    zone = manifest.timeZone
    version = manifest.version
    status = SetStatus(contents, manifest)
    earned = contents.earned()
    missing = contents.missing()
    tasks = try contents.tasks()
    figures = [
      contents.revenueCharts(), contents.subscriptionCharts(), contents.renewalCharts(),
      try contents.deliveryCharts(),
    ]
    breaks = try contents.breaks()
    restatements = try contents.restatements()
    inputs = try contents.inputList()
    coverage = try contents.coverage()
    let sources = Set(
      figures.flatMap(\.charts).flatMap(\.sources) + (earned + missing).flatMap(\.sources)
        + inputs.sources + Self.named)
    definitions = Self.definitions(in: contents.set).filter { sources.contains($0.key) }
      .sorted { ($0.key.report, $0.key.column) < ($1.key.report, $1.key.column) }.map(\.value)
  }

  /// The definition of each column, as the set describes it, with its file; for a report with
  /// monthly files, the last one.
  private static func definitions(in set: ReportSet) -> [Source: PageItem] {
    var found: [Source: PageItem] = [:]
    for table in set.manifest.resources {
      let report = table.path.split(separator: "/").first ?? ""
      let name = report.hasSuffix(".csv") ? String(report.dropLast(4)) : String(report)
      for column in table.columns {
        let source = Source(report: name, column: column.name)
        found[source] = [
          "anchor": source.anchor, "report": name, "column": column.name,
          "description": column.description, "path": table.path,
        ]
        found[source]?["unit"] = column.unit
      }
    }
    return found
  }
}

/// The values of a list entry by the names that the template uses.
typealias PageItem = [String: String]

/// A headline number.
struct Figure {
  let title: String
  /// The month of the number; nil for the whole set.
  let period: String?
  let value: String
  /// Its provenance as HTML attributes; empty for a set without any month.
  var provenance: String
  let sources: [Source]
  let anchor: String
  let isUSD: Bool
  /// The change since the month before, as text with its provenance; nil when it has no meaning.
  var change: PageItem?
  var spark = ""
  var note: String?

  init(
    _ title: String, of period: String? = nil, _ value: Int128?, _ unit: Unit, in report: String,
    _ measure: Measure, where filter: RowFilter = RowFilter(), _ numbers: Numbers
  ) {
    self.title = title
    self.period = period.map(monthName)
    self.value = numbers.text(value, unit)
    provenance =
      " data-file=\"\(report)\" data-as=\"\(unit.rawValue)\"" + measure.attribute
      + filter.attribute()
    sources = measure.columns.map { Source(report: report, column: $0) }
    anchor = sources.first?.anchor ?? "main"
    isUSD = unit == .usd
  }
}

struct ChartGroup {
  let id: String
  let title: String
  let charts: [ChartFigure]
}

/// A chart with its table, in one or several views of the same numbers.
struct ChartFigure {
  struct View {
    let title: String
    let legend: [PageItem]
    let chart: String
    let table: String
    let sources: [Source]
  }

  let id: String
  let title: String
  let note: String
  let views: [View]
  /// Whether the table is always open, because there is no chart or it is part of the chart.
  var isTable = false
  /// Whether the table is printed, too.
  var isPrinted = true

  let hasViews: Bool
  /// The columns of its tables, including those without rows.
  private(set) var sources: [Source]

  init(_ id: String, _ title: String, note: String, _ views: [View]) {
    (self.id, self.title, self.note, self.views) = (id, title, note, views)
    hasViews = views.count > 1
    sources = views.flatMap(\.sources)
  }

  /// A chart or only its table in one view, or in none if `isEmpty`, by default if the table has no
  /// rows.
  init(
    _ id: String, _ title: String, note: String, chart: String? = nil,
    _ legend: [PageItem] = [], of table: PageTable, isEmpty: Bool? = nil,
    caption: String? = nil, _ numbers: Numbers
  ) {
    let view = View(
      title: "", legend: legend, chart: chart ?? "",
      table: table.html(caption: caption ?? title, numbers), sources: table.sources)
    self.init(id, title, note: note, isEmpty ?? table.rows.isEmpty ? [] : [view])
    sources = table.sources
    isTable = chart == nil
  }
}

/// Whether the set is complete and without reservations.
struct SetStatus {
  let isQualified: Bool
  let reasons: [String]
  let completeness: String

  init(_ contents: SetContents, _ manifest: Manifest) {
    isQualified = !manifest.qualifications.isEmpty
    reasons = manifest.qualifications.map(\.escaped)
    let revenue = Self.complete(contents, contents.revenue)
    let churn = Self.complete(contents, contents.churn)
    let hasRows = !contents.revenue.sums.isEmpty || !contents.churn.sums.isEmpty
    guard revenue != nil || churn != nil else {
      completeness =
        hasRows
        ? "No month is complete yet; every number is so far."
        : "The set has no charge and no subscription."
      return
    }
    let (money, subscriptions) = (revenue ?? "not complete yet", churn ?? "not complete yet")
    completeness =
      (money == subscriptions
        ? money.capitalised : "Revenue is \(money), subscriptions are \(subscriptions)")
      + ". Other months are marked “so far”."
  }

  /// The last complete month in words, with the earlier ones that are not complete; nil if there is
  /// none.
  private static func complete(_ contents: SetContents, _ cube: Cube) -> String? {
    guard let last = contents.lastComplete(cube) else { return nil }
    let gaps = contents.months(of: cube).prefix { $0 < last }.filter(cube.incomplete.contains)
    let except =
      gaps.count > 3
      ? counted(Int64(gaps.count), "earlier month")
      : gaps.map(monthName).joined(separator: ", ")
    return "complete through \(monthName(last))" + (gaps.isEmpty ? "" : " except \(except)")
  }
}

/// A month such as `2026-02` in words: February 2026.
func monthName(_ month: String) -> String {
  let parts = month.split(separator: "-")
  guard parts.count == 2, let number = Int(parts[1]), 1...12 ~= number else { return month }
  return "\(monthNames[number - 1]) \(parts[0])"
}

let monthNames = [
  "January", "February", "March", "April", "May", "June", "July", "August", "September",
  "October", "November", "December",
]
