import EventStore
import Domain
import Reports

/// The operator's price book, for charges whose provider sends no money.
struct PriceBookFile: Sendable, Equatable {
  private(set) var lines: [PriceBookLine] = []
  let source: [UInt8]

  static let header = PriceBookLine.Column.allCases.filter { $0 != .offer }
    .map(\.rawValue).joined(separator: ",")

  /// Reads the content of the price book at `path`; a date is the start of that day in `calendar`.
  ///
  /// - Throws: `SubledgerError` of kind `configuration` with every wrong line, its column and
  ///   defect.
  init(_ bytes: [UInt8], named path: String, calendar: CivilCalendar) throws(SubledgerError) {
    func refused(_ problems: String) -> SubledgerError {
      SubledgerError(
        .configuration, "cannot use the price book: " + problems,
        hint: "the header is \(Self.header), and offer where wanted")
    }
    let text = try utf8Text(of: bytes) { refused("\(path), line \($1): \($0)") }
    source = bytes
    // All are reported together, so that one correction is enough.
    var problems: [String] = []
    var firstLines: [PriceBookLine.Key: Int] = [:]
    var columns: PriceColumns?
    let texts = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
    for (number, line) in zip(1..., texts) where !line.isEmpty {
      do throws(CSVProblem) {
        guard let fields = CSVRow.cells(of: String(line)) else {
          throw CSVProblem(column: 1, reason: "a quoted field does not end on it")
        }
        guard let columns else {
          columns = try PriceColumns(fields)
          continue
        }
        let line = try columns.read(fields, calendar: calendar)
        if let first = firstLines[line.key] {
          throw columns.problem(
            .validFrom,
            "repeats line \(first): same store, product, country, currency, offer and start")
        }
        firstLines[line.key] = number
        lines.append(line)
      } catch {
        problems.append("\(path), line \(number), column \(error.column): \(error.reason)")
        if columns == nil { break }
      }
    }
    if columns == nil, problems.isEmpty {
      problems = ["\(path), line 1, column 1: the header is missing"]
    }
    guard problems.isEmpty else { throw refused(listed(problems)) }
  }

  /// Returns these prices, and the words of their symbols: those of `ledger`, to which all codes
  /// are added, and products without events, which estimates need as well.
  ///
  /// A price of a product also applies to its base plans.
  func book(
    in ledger: Ledger
  ) throws(SubledgerError) -> (prices: PriceBook, words: StringTable) {
    try ledger.learn(lines.flatMap { [$0.key.country, $0.key.currency, $0.key.offer.text] })
    var words = ledger.symbols
    for line in lines { _ = words.symbol(line.key.product.text) }
    let basePlans = BasePlans(in: words)
    var book = PriceBook()
    for line in lines {
      let price = PriceBook.Price(
        country: ledger.symbol(line.key.country) ?? 0,
        currency: ledger.symbol(line.key.currency) ?? 0,
        offer: ledger.symbol(line.key.offer.text) ?? 0, validFrom: line.key.validFrom,
        local: line.local, usd: line.usd, rate: line.rate, period: line.period)
      let store = line.key.store
      book.add(price, store: store, product: words.symbol(line.key.product.text))
      for plan in basePlans.plans(of: line.key.product.text) {
        book.add(price, store: store, product: words.symbol(plan), isForEveryPlan: true)
      }
    }
    return (book, words)
  }

  /// Returns the periods of the products at full price at `time`, each from the latest valid line.
  func periods(at time: Instant) -> [String: PeriodLength] {
    var periods: [String: PeriodLength] = [:]
    let valid = lines.filter { $0.key.validFrom <= time && $0.key.offer.text.isEmpty }
    for line in valid.sorted(by: { $0.key.validFrom < $1.key.validFrom }) {
      if let period = line.period { periods[line.key.product.text] = period }
    }
    return periods
  }
}

/// Why a line of a price book is refused.
struct CSVProblem: Error {
  /// Number of the field, from 1.
  var column: Int
  var reason: String
}

/// The positions of a price book's columns, from its header.
struct PriceColumns {
  private(set) var positions: [PriceBookLine.Column: Int] = [:]

  init(_ header: [String]) throws(CSVProblem) {
    for (index, name) in header.enumerated() {
      let column = PriceBookLine.Column(rawValue: name)
      guard let column, positions[column] == nil else {
        throw CSVProblem(
          column: index + 1,
          reason: "\"\(name.shown())\" is "
            + (column == nil ? "not a column; commas separate columns" : "there twice"))
      }
      positions[column] = index
    }
    let missing = PriceBookLine.Column.allCases
      .filter { $0 != .offer && positions[$0] == nil }.map(\.rawValue)
    guard missing.isEmpty else {
      throw CSVProblem(
        column: header.count + 1,
        reason: "the header lacks \(missing.sorted().joined(separator: ", "))")
    }
  }

  func problem(_ column: PriceBookLine.Column, _ reason: String) -> CSVProblem {
    CSVProblem(
      column: positions[column, default: 0] + 1, reason: "\(column.rawValue) \(reason)")
  }
}
