internal import Domain

/// A row of a monthly report whose numbers are no longer those that were published.
struct RowChange {
  /// Key columns but the period, as printed, joined by commas.
  let key: ExactText
  /// The measures that were published; nil when there was no such row, which means zero.
  let published: RowRecord?
  /// The measures now; nil when there is no such row any more.
  let restated: RowRecord?
  /// The run whose publication is compared with.
  let run: Int64
  /// The last run that published the old numbers, or the same as `run` when it is not known.
  let since: Int64
  /// Places of the columns that differ, by name.
  let columns: [Int]
}

/// What is sold, in the words of a report.
struct PrintedProduct: Hashable {
  /// Provider and app, joined by a comma.
  let feed: ExactText
  let product: ExactText
}

/// What telling the rows of a monthly report apart needs to know of its columns.
struct RowShape {
  let layout: ReportDefinition
  let keys: [Int]
  /// Measures that are compared, by name; whether a row is complete is none.
  let measures: [Int]
  /// The column that counts months from the first column's; nil when the first says the month.
  let monthsLater: Int?
  private let provider: Int
  private let app: Int
  private let product: Int?

  init(_ layout: ReportDefinition) {
    self.layout = layout
    let names = layout.columns.map(\.name)
    monthsLater = names.firstIndex(of: "period_index")
    // The month is told beside the key, unless the key alone says which cohort it is about.
    let first = monthsLater == nil ? 1 : 0
    keys = layout.columns.indices.filter { $0 >= first && layout.columns[$0].isKey }
    measures = layout.columns.indices.filter {
      !layout.columns[$0].isKey && names[$0] != Column.isComplete.name
    }.sorted { names[$0].utf8.lexicographicallyPrecedes(names[$1].utf8) }
    provider = names.firstIndex(of: "provider") ?? 0
    app = names.firstIndex(of: "app_id") ?? 0
    product = names.firstIndex(of: "product_id")
  }

  func key(of row: RowRecord) -> ExactText {
    ExactText(keys.map { row.fields[$0] }.joined(separator: ","))
  }

  /// Provider and app as printed.
  func feed(of row: RowRecord) -> ExactText {
    ExactText("\(row.fields[provider]),\(row.fields[app])")
  }

  /// Whether the provider that tells of the row sends money of its own.
  func hasSentMoney(_ row: RowRecord) -> Bool {
    Provider.allCases.contains {
      $0.sendsWholeCharges && row.fields[provider].isExactly($0.name)
    }
  }

  /// What the row is about; a report without products has one that nothing is sold as.
  func productKey(of row: RowRecord) -> PrintedProduct {
    PrintedProduct(
      feed: feed(of: row), product: ExactText(product.map { row.fields[$0] } ?? ""))
  }

  func isComplete(_ row: RowRecord) -> Bool { row.fields.last == "true" }

  /// The measures in which two rows differ; a row that is not there has zeros.
  func differences(_ old: RowRecord?, _ new: RowRecord?) -> [Int] {
    measures.filter { value(of: $0, in: old) != value(of: $0, in: new) }
  }

  func value(of column: Int, in row: RowRecord?) -> String {
    row.map { $0.fields[column] } ?? layout.columns[column].format.absent
  }
}
