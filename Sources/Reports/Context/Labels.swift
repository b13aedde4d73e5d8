internal import EventStore
internal import Domain

/// The texts for the numbers that queries over cells return: how each prints, and its rank among
/// the others.
///
/// Cells hold numbers: joining words in SQL and sorting by them takes as long as all other work.
struct Labels {
  /// Which texts a number refers to.
  enum Part: Int, CaseIterable {
    /// Apps, products, countries, storefronts and currencies, by the ledger's symbols.
    case symbol
    case provider, store, basis, productType, chargeKind, eventKind, exclusion

    /// The words of the vocabulary with their numbers; those of symbols come from the ledger.
    var names: [(Int64, String)] {
      switch self {
      case .symbol: []
      case .provider: Provider.allCases.map { (Int64($0.rawValue), $0.name) }
      case .store: Store.allCases.map { (Int64($0.rawValue), $0.name) }
      case .basis: AmountBasis.allCases.map { (Int64($0.rawValue), $0.name) }
      case .productType: ProductType.allCases.map { (Int64($0.rawValue), $0.name) }
      case .chargeKind: ChargeKind.allCases.map { (Int64($0.rawValue), $0.name) }
      case .eventKind: EventKind.allCases.map { (Int64($0.rawValue), $0.name) }
      case .exclusion: ExclusionReason.allCases.map { (Int64($0.rawValue), $0.name) }
      }
    }
  }

  /// Of all parts, one after the other: as they are printed without quotes; nil where a number has
  /// none.
  private var words: [String?] = []
  /// The place of each among the words of its part, by the bytes that a reader of the file sees.
  private var ranks: [Int64] = []
  /// Where the cell of each ends among the bytes of all: looking one up makes no array.
  private var ends: [Int] = []
  private var cells: [UInt8] = []
  /// Where each part begins; one more marks the end.
  private var starts = [0]

  /// The symbols of `ledger`, and the words of the vocabulary.
  init(of ledger: Ledger, in dialect: CSVDialect = .rfc4180) throws {
    var symbols: [(Int64, String)] = []
    try ledger.rows(sql: "select id, value from string") {
      symbols.append(($0.number(0), cellText($0.text(1))))
    }
    for part in Part.allCases { add(part == .symbol ? symbols : part.names, dialect) }
  }

  /// Adds a part with the words by number.
  private mutating func add(_ names: [(Int64, String)], _ dialect: CSVDialect) {
    var words = [String?](repeating: nil, count: Int(names.map(\.0).max() ?? 0) + 1)
    for (number, name) in names { words[Int(number)] = name }
    let shown = words.map { Array(($0 ?? "").utf8) }
    let order = shown.indices.sorted { left, right in
      if shown[left] == shown[right] { return left < right }
      return shown[left].lexicographicallyPrecedes(shown[right])
    }
    var ranks = [Int64](repeating: 0, count: words.count)
    for (rank, number) in order.enumerated() { ranks[number] = Int64(rank) }
    for word in words {
      var line = CSVLine(dialect)
      line.add(printed: word ?? "")
      cells += line.buffer
      ends.append(cells.count)
    }
    self.words += words
    self.ranks += ranks
    starts.append(self.words.count)
  }

  /// The word itself.
  func word(_ number: Int64, _ part: Part) throws(SubledgerError) -> String {
    words[try place(number, part)] ?? ""
  }

  /// The place of the word among those of its part.
  func rank(_ number: Int64, _ part: Part) throws(SubledgerError) -> Int64 {
    ranks[try place(number, part)]
  }

  /// Adds the word as a cell.
  func add(_ number: Int64, _ part: Part, to line: inout CSVLine) throws(SubledgerError) {
    let place = try place(number, part)
    line.add(cell: cells[(place == 0 ? 0 : ends[place - 1])..<ends[place]])
  }

  private func place(_ number: Int64, _ part: Part) throws(SubledgerError) -> Int {
    let (start, end) = (starts[part.rawValue], starts[part.rawValue + 1])
    guard 0..<Int64(end - start) ~= number, words[start + Int(number)] != nil else {
      throw .identity(name: "every number has its word", rows: ["\(part) \(number)"])
    }
    return start + Int(number)
  }
}
