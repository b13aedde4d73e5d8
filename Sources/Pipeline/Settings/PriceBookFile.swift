import Formats
import EventStore
import Domain

/// The operator's price book, for charges whose provider sends no money.
struct PriceBookFile: Sendable, Equatable {
  private(set) var sha256: String
  private(set) var lines: [PriceBookLine] = []
  private(set) var source: [UInt8]

  static let header = PriceBookLine.Column.allCases.filter { $0 != .offer }
    .map(\.rawValue).joined(separator: ",")

  /// Reads the price book at `path`, which the setting `place` contains; a date is the start of
  /// that day in `calendar`.
  ///
  /// - Throws: `SubledgerError` of kind `noInput`, `permission`, or `configuration` with every
  ///   wrong line, its column and defect.
  static func read(
    _ path: String, givenWith place: String = "--prices", calendar: CivilCalendar
  ) throws(SubledgerError) -> PriceBookFile {
    let bytes = try fileContents(of: "the price book", at: path, givenWith: place)
    return try read(bytes, named: path, calendar: calendar)
  }

  static func read(
    _ bytes: [UInt8], named path: String, calendar: CivilCalendar
  ) throws(SubledgerError) -> PriceBookFile {
    var list = PriceBookFile(sha256: Formats.sha256(of: bytes), source: bytes)
    // All are reported together, so that one correction is enough.
    var problems: [CSVProblem] = []
    var firstLines: [PriceBookLine.Key: Int] = [:]
    var reader = CSVReader(bytes)
    do throws(CSVProblem) {
      guard let header = try reader.next() else {
        throw CSVProblem(line: 1, column: 1, reason: "the header is missing")
      }
      let columns = try PriceColumns(header)
      while let record = try reader.next() {
        do throws(CSVProblem) {
          let line = try columns.read(record, calendar: calendar)
          if let first = firstLines[line.key] {
            throw columns.problem(
              record.line, .validFrom,
              "repeats line \(first): same store, product, country, currency, offer and begin")
          }
          firstLines[line.key] = record.line
          list.lines.append(line)
        } catch {
          problems.append(error)
        }
      }
    } catch {
      problems.append(error)
    }
    guard !problems.isEmpty else { return list }
    let shown = 20
    var lines = problems.prefix(shown).map {
      "\(path), line \($0.line), column \($0.column): \($0.reason)"
    }
    if problems.count > shown { lines.append("and \(problems.count - shown) more") }
    throw SubledgerError(
      .configuration, "cannot use the price book: " + lines.joined(separator: "\n  "),
      hint: "the header is \(header), and offer where wanted")
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

/// The positions of a price book's columns, from its header.
struct PriceColumns {
  private(set) var positions: [PriceBookLine.Column: Int] = [:]

  init(_ header: CSVRecord) throws(CSVProblem) {
    for (index, name) in header.fields.enumerated() {
      let column = PriceBookLine.Column(rawValue: name)
      guard let column, positions[column] == nil else {
        throw CSVProblem(
          line: header.line, column: index + 1,
          reason: column == nil ? "the header has an unknown name" : "the name is there twice")
      }
      positions[column] = index
    }
    let missing = PriceBookLine.Column.allCases
      .filter { $0 != .offer && positions[$0] == nil }.map(\.rawValue)
    guard missing.isEmpty else {
      throw CSVProblem(
        line: header.line, column: header.fields.count + 1,
        reason: "the header lacks \(missing.sorted().joined(separator: ", "))")
    }
  }

  func problem(_ line: Int, _ column: PriceBookLine.Column, _ reason: String) -> CSVProblem {
    CSVProblem(
      line: line, column: positions[column, default: 0] + 1,
      reason: "\(column.rawValue) \(reason)")
  }
}
