import Foundation
import TestSupport
import Testing

/// A number printed on the page, with its provenance attributes.
struct PrintedNumber {
  let text: String
  /// Attributes of the number and its enclosing elements, with joined conditions.
  let attributes: [String: String]
}

/// The numbers in `index.html`, parsed as plain HTML.
struct PageNumbers {
  private(set) var numbers: [PrintedNumber] = []
  /// Cells and figures with digits but without provenance.
  private(set) var unexplained: [String] = []
  /// The tooltips of the charts.
  private(set) var titles: [String] = []
  private(set) var anchors: Set<String> = []
  private(set) var links: [String] = []
  /// Elements that are not closed in order.
  private(set) var unbalanced: [String] = []

  private var open: [(name: String, attributes: [String: String])] = []
  private var columns: [[String: String]] = []
  private var column = 0

  init(_ page: String) {
    let body = page.components(separatedBy: "</style>").last ?? ""
    for tag in body.matches(of: /<(\/?)([a-z][a-z0-9]*)([^>]*)>([^<]*)/) {
      let name = String(tag.2)
      if tag.1 == "/" { close(name) } else { begin(name, String(tag.3), String(tag.4)) }
    }
  }

  private mutating func close(_ name: String) {
    guard open.last?.name == name else {
      if !["head", "html", "body"].contains(name) { unbalanced.append("\(name) \(open.count)") }
      return
    }
    open.removeLast()
  }

  private mutating func begin(_ name: String, _ text: String, _ content: String) {
    var attributes: [String: String] = [:]
    for pair in text.isEmpty ? [] : text.matches(of: /([a-z-]+)(?:="([^"]*)")?/) {
      attributes[String(pair.1)] = plain(String(pair.2 ?? ""))
    }
    anchors.formUnion(attributes["id"].map { [$0] } ?? [])
    links += attributes["href"].map { [$0] } ?? []
    if name == "title" { titles.append(plain(content)) }
    if name == "table" { columns = [] }
    if name == "tr" { column = 0 }
    let isHead = open.contains { $0.name == "thead" }
    if ["th", "td"].contains(name) {
      if isHead {
        columns.append(attributes)
      } else if name == "td", column < columns.count {
        note(plain(content), attributes, columns[column])
      }
      column += 1
    }
    if name == "data" { note(plain(content), attributes, [:]) }
    let isVoid = text.hasSuffix("/") || ["br", "input", "meta"].contains(name)
    if !isVoid { open.append((name, attributes)) }
  }

  private mutating func note(
    _ text: String, _ own: [String: String], _ column: [String: String]
  ) {
    var all: [String: String] = [:]
    for part in open.map(\.attributes) + [column, own] {
      for (key, value) in part where key.hasPrefix("data-") {
        let isJoined = key == "data-where" && all[key] != nil
        all[key] = isJoined ? "\(all[key] ?? "");\(value)" : value
      }
    }
    let isNumber = ["data-sum", "data-rate", "data-max", "data-count"].contains { all[$0] != nil }
    if isNumber {
      numbers.append(PrintedNumber(text: text, attributes: all))
    } else if text.contains(where: \.isNumber), own["class"]?.hasPrefix("text") != true {
      unexplained.append(text)
    }
  }
}

/// Text with character references resolved.
private func plain(_ text: String) -> String {
  [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")]
    .reduce(text) { $0.replacingOccurrences(of: $1.0, with: $1.1) }
}

/// The cells of a set, and numbers recomputed from them.
final class SetCells {
  private let folder: String
  private var reports: [String: [[String: String]]] = [:]
  /// Filtered rows of reports, because many numbers share a filter.
  private var filtered: [[String]: [[String: String]]] = [:]

  init(_ folder: String) { self.folder = folder }

  /// The text that the page must print for a number.
  func expected(_ number: PrintedNumber, grouping: String = ",", sign: String = ".") throws
    -> String
  {
    let value = try value(number, number.attributes["data-where"])
    let unit = number.attributes["data-as"] ?? ""
    guard let from = number.attributes["data-from"] else {
      return written(value, unit, grouping, sign)
    }
    let before = try #require(try self.value(number, from))
    let now = try #require(value)
    if number.attributes["data-rate"] != nil {
      return signed(now - before, "points", grouping, sign) + " points"
    }
    return signed(rounded((now - before) * 1_000_000, by: before), "percent", grouping, sign)
  }

  private func signed(
    _ value: Int128, _ unit: String, _ grouping: String, _ sign: String
  ) -> String {
    let text = written(value, unit, grouping, sign)
    return value > 0 && text.contains { "123456789".contains($0) } ? "+" + text : text
  }

  private func value(_ number: PrintedNumber, _ filter: String?) throws -> Int128? {
    let rows = try rows(of: number.attributes["data-file"] ?? "", where: filter ?? "")
    if number.attributes["data-count"] != nil { return Int128(rows.count) * 1_000_000 }
    if let column = number.attributes["data-max"] {
      return rows.compactMap { micros($0[column]) }.max() ?? (rows.isEmpty ? 0 : nil)
    }
    if let column = number.attributes["data-sum"] { return sum(column, rows) }
    let parts = (number.attributes["data-rate"] ?? "").split(separator: "/").map(String.init)
    let whole = parts[1].split(separator: "+").reduce(0) { $0 + (sum(String($1), rows) ?? 0) }
    guard whole > 0, let part = sum(parts[0], rows) else { return nil }
    return rounded(part * 1_000_000, by: whole)
  }

  private func sum(_ column: String, _ rows: [[String: String]]) -> Int128? {
    let known = rows.compactMap { micros($0[column]) }
    return known.isEmpty && !rows.isEmpty ? nil : known.reduce(0, +)
  }

  private func rows(of report: String, where filter: String) throws -> [[String: String]] {
    if let rows = filtered[[report, filter]] { return rows }
    if reports[report] == nil {
      let path = "\(folder)/\(report)"
      let files =
        FileManager.default.fileExists(atPath: path + ".csv")
        ? [path + ".csv"]
        : try FileManager.default.contentsOfDirectory(atPath: path).map { "\(path)/\($0)" }
      reports[report] = try files.flatMap(readCSV)
    }
    // Applies one condition after another, because many filters share their first conditions.
    let conditions = filter.split(separator: ";")
    guard let last = conditions.last else { return reports[report] ?? [] }
    let parts = last.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    let (column, isExcluded) = (
      parts[0].replacingOccurrences(of: "!", with: ""), parts[0].hasSuffix("!")
    )
    let values = parts[1].split(separator: "|", omittingEmptySubsequences: false).map {
      $0.removingPercentEncoding ?? ""
    }
    let rows = try self.rows(of: report, where: conditions.dropLast().joined(separator: ";"))
      .filter { $0[column].map { values.contains($0) != isExcluded } ?? false }
    filtered[[report, filter]] = rows
    return rows
  }
}

private func micros(_ cell: String?) -> Int128? {
  guard let cell, !cell.isEmpty else { return nil }
  let parts = cell.split(separator: ".")
  let fraction = (parts.count > 1 ? String(parts[1]) : "").padding(
    toLength: 6, withPad: "0", startingAt: 0)
  let digits = Int128(parts[0].drop { $0 == "-" } + fraction) ?? 0
  return cell.hasPrefix("-") ? -digits : digits
}

/// The quotient rounded half to even.
private func rounded(_ value: Int128, by divisor: Int128) -> Int128 {
  let (quotient, rest) = value.magnitude.quotientAndRemainder(dividingBy: divisor.magnitude)
  let twice = rest * 2
  let isUp = twice > divisor.magnitude || twice == divisor.magnitude && quotient % 2 == 1
  let result = Int128(quotient) + (isUp ? 1 : 0)
  return value < 0 ? -result : result
}

private func written(
  _ value: Int128?, _ unit: String, _ grouping: String, _ sign: String
) -> String {
  guard let value else { return "–" }
  let (step, decimals): (Int128, Int) =
    ["usd": (10_000, 2), "percent": (1_000, 1), "points": (1_000, 1), "whole": (10_000, 0)][unit]
    ?? (1_000_000, 0)
  let number = rounded(value, by: step)
  let digits = String(number.magnitude)
  let padded = String(repeating: "0", count: max(0, decimals + 1 - digits.count)) + digits
  var whole = ""
  for (index, digit) in padded.dropLast(decimals).reversed().enumerated() {
    if index > 0, index % 3 == 0 { whole = grouping + whole }
    whole = String(digit) + whole
  }
  let text = (number < 0 ? "−" : "") + whole + (decimals == 0 ? "" : sign + padded.suffix(decimals))
  guard unit == "percent" else { return text }
  return text + (sign == "." ? "%" : "\u{a0}%")
}
