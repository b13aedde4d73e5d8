import Foundation
import Providers
import Testing
import Domain

/// A provider's sample lines, with the expected result of each.
///
/// `Lines/<provider>.jsonl` contains the lines. `Lines/<provider>.events.csv` contains one row per
/// event, and one for each line without an event.
struct SampleLines {
  /// One row of the table: a person's notes, and the result that the program must give.
  struct Row {
    let line: Int
    /// The provider's event name that the row demonstrates.
    let sent: String
    /// The outcome: an event's kind, `skipped …` or `rejected …`.
    let outcome: String
    let cells: [String]
  }

  let lines: [String]
  let header: [String]
  let rows: [Row]

  /// Columns written by a person: the line, where its form is documented, what it shows.
  static let notes = ["line", "section", "about", "sent"]

  init(_ provider: Provider) throws {
    lines = try Self.text("\(provider.name).jsonl").split(separator: "\n").map(String.init)
    let table = try Self.text("\(provider.name).events.csv").split(separator: "\n").map(Self.cells)
    header = table.first ?? []
    rows = try table.dropFirst().map { cells in
      try #require(cells.count == table[0].count, "a row has as many cells as the header")
      return Row(
        line: try #require(Int(cells[0])), sent: cells[3], outcome: cells[4],
        cells: Array(cells.dropFirst(Self.notes.count)))
    }
  }

  private static func text(_ name: String) throws -> String {
    let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    let file = folder.appendingPathComponent("Lines").appendingPathComponent(name)
    return try String(contentsOf: file, encoding: .utf8)
  }

  /// The cells of a row; cells with commas are quoted.
  private static func cells(_ row: Substring) -> [String] {
    var cells = [""]
    var isQuoted = false
    for character in row {
      switch character {
      case "\"": isQuoted.toggle()
      case "," where !isQuoted: cells.append("")
      default: cells[cells.count - 1].append(character)
      }
    }
    return cells
  }
}

/// Describes the outcome of lines, one after another.
struct SampleReporter {
  private var identities: [Int64: Int] = [:]
  private var collections: [Int64: Int] = [:]

  /// The columns that the program fills.
  static let columns = [
    "outcome", "name", "environment", "store", "app", "product", "previous_product", "user",
    "transaction", "original", "starts_lineage", "time", "created", "received", "period_start",
    "period_end", "grace_end", "entitled_until", "revenue", "price", "reason", "renewal_count",
    "country", "storefront", "observation", "identity", "collection",
  ]

  /// The rows of one line: its events, or the reason for having none.
  mutating func rows(of text: String, line: Int) -> [[String]] {
    let batch = normalise(text, firstLine: Int64(line))
    let empty = Array(repeating: "", count: Self.columns.count - 1)
    return batch.skipped.map { ["skipped \($0.key)"] + empty }
      + batch.rejects.map { ["rejected \($0.reason): \($0.detail)"] + empty }
      + batch.events.indices.map { row(of: batch, $0, line) }
  }

  private mutating func row(of batch: EventBatch, _ index: Int, _ line: Int) -> [String] {
    let event = batch.events[index]
    let text = batch.texts[index]
    let identity = Self.first(line, of: event.identity, in: &identities)
    let collection =
      event.collection == 0 ? "" : Self.first(line, of: event.collection, in: &collections)
    return [
      event.kind.name, batch.word(event.name), event.environment.name, event.store.name,
      batch.word(event.app), batch.word(event.product), batch.word(event.previousProduct),
      batch.text(text.user), batch.text(text.transaction), batch.text(text.original),
      event.startsLineage ? "yes" : "no", event.time.text, event.created?.text ?? "",
      event.received?.text ?? "", event.periodStart?.text ?? "",
      event.periodEnd?.text ?? "", event.graceEnd?.text ?? "",
      event.entitledUntil?.text ?? "", Self.words(event.revenue, batch),
      Self.words(event.price, batch), event.reason.map { "\($0)" } ?? "",
      event.renewalCount.map { "\($0)" } ?? "", batch.word(event.country),
      batch.word(event.storefront), event.observation.map { Self.words($0, batch) } ?? "",
      identity, collection,
    ]
  }

  /// The first line with `key`, so that copies are recognizable.
  private static func first(_ line: Int, of key: Int64, in seen: inout [Int64: Int]) -> String {
    let known = seen[key] ?? line
    seen[key] = known
    return "\(known)"
  }

  private static func words(_ revenue: Revenue?, _ batch: EventBatch) -> String {
    guard let revenue else { return "" }
    var words = [batch.word(revenue.currency), revenue.local?.text() ?? "?"]
    words += ["USD", revenue.usd?.text() ?? "?"]
    if let isProceed = revenue.isProceed { words.append(isProceed ? "proceeds" : "sales") }
    if let rate = revenue.rate { words.append(rate.text(decimalsMin: 0) + "%") }
    return words.joined(separator: " ")
  }

  private static func words(_ price: Price?, _ batch: EventBatch) -> String {
    guard let price else { return "" }
    let words = [batch.word(price.currency), price.local?.text() ?? "?"]
    return (words + ["USD", price.usd?.text() ?? "?"]).joined(separator: " ")
  }

  private static func words(_ state: Observation, _ batch: EventBatch) -> String {
    func pair(_ name: String, _ value: String?) -> String? { value.map { "\(name)=\($0)" } }
    func flag(_ name: String, _ value: Bool?) -> String? {
      pair(name, value.map { $0 ? "yes" : "no" })
    }
    let words = [
      pair("type", state.productType?.name), flag("owned", state.isOwned),
      flag("renews", state.isAutoRenewing), flag("retry", state.isInBillingRetry),
      flag("trial", state.isTrial), pair("renews_since", state.autoRenewChangedAt?.text),
      pair("first", state.firstPurchasedAt?.text),
      pair("charged", state.lastChargedAt?.text),
      state.group == 0 ? nil : pair("group", batch.word(state.group)),
      state.isPending ? "pending" : nil, state.isReplaced ? "replaced" : nil,
      state.isShared ? "shared" : nil, state.isUndated ? "undated" : nil,
      state.isTimeInferred ? "inferred" : nil,
    ]
    return words.compactMap { $0 }.joined(separator: " ")
  }
}
