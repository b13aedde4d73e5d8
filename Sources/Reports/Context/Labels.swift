internal import Domain
internal import EventStore

/// The texts for the numbers that queries over cells return: how each is printed, and how it sorts.
///
/// Cells hold numbers; joining texts in SQL and sorting by them would double a query's time.
struct Labels {
  /// The set of texts that a number refers to.
  enum Part: Int, CaseIterable {
    /// Apps, products, countries, storefronts and currencies, from the ledger's symbol table.
    case symbol
    case provider, store, basis, productType, chargeKind, eventKind, exclusion

    /// The words of the vocabulary with their numbers; those of symbols are in the ledger.
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

  /// The printed words of all parts in sequence, without quotes; nil for unused numbers.
  private var words: [String?] = []
  /// The rank of each word within its part, by the bytes of the CSV file.
  private var ranks: [Int64] = []
  /// The end of each word's cell in the bytes of all, so that a lookup allocates nothing.
  private var ends: [Int] = []
  private var cells: [UInt8] = []
  /// The start of each part, and the end of the last.
  private var starts = [0]

  /// The symbols of `ledger` and the words of the vocabulary.
  init(of ledger: Ledger, in dialect: CSVDialect = .rfc4180) throws {
    var symbols: [(Int64, String)] = []
    try ledger.rows(sql: "select id, value from string") {
      symbols.append(($0.number(0), cellText($0.text(1))))
    }
    for part in Part.allCases { add(part == .symbol ? symbols : part.names, dialect) }
  }

  private mutating func add(_ names: [(Int64, String)], _ dialect: CSVDialect) {
    var words = [String?](repeating: nil, count: Int(names.map(\.0).max() ?? 0) + 1)
    for (number, name) in names { words[Int(number)] = name }
    let shown = words.map { ExactText($0 ?? "") }
    let order = shown.indices.sorted { (shown[$0], $0) < (shown[$1], $1) }
    var ranks = [Int64](repeating: 0, count: words.count)
    for (rank, number) in order.enumerated() { ranks[number] = Int64(rank) }
    var line = CSVLine(dialect)
    for word in words {
      line.removeAll()
      line.add(printed: word ?? "")
      cells += line.buffer
      ends.append(cells.count)
    }
    self.words += words
    self.ranks += ranks
    starts.append(self.words.count)
  }

  func word(_ number: Int64, _ part: Part) throws(SubledgerError) -> String {
    words[try place(number, part)] ?? ""
  }

  func rank(_ number: Int64, _ part: Part) throws(SubledgerError) -> Int64 {
    ranks[try place(number, part)]
  }

  func add(_ number: Int64, _ part: Part, to line: inout CSVLine) throws(SubledgerError) {
    let place = try place(number, part)
    let start = place == 0 ? 0 : ends[place - 1]
    // A slice of the array would count another reference to it.
    cells.withUnsafeBytes {
      line.add(cells: UnsafeRawBufferPointer(rebasing: $0[start..<ends[place]]))
    }
  }

  private func place(_ number: Int64, _ part: Part) throws(SubledgerError) -> Int {
    let (start, end) = (starts[part.rawValue], starts[part.rawValue + 1])
    guard 0..<Int64(end - start) ~= number, words[start + Int(number)] != nil else {
      throw .identity(name: "every number has its word", rows: ["\(part) \(number)"])
    }
    return start + Int(number)
  }
}
