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

  struct Entry {
    /// As it is printed, without quotes.
    let word: String
    let cell: [UInt8]
    /// Its place among the words of its part, by the bytes that a reader of the file sees.
    let rank: Int64
  }

  private let parts: [[Entry?]]

  /// The symbols of `ledger`, and the words of the vocabulary.
  init(of ledger: Ledger, in dialect: CSVDialect = .rfc4180) throws {
    var symbols: [(Int64, String)] = []
    try ledger.rows(sql: "select id, value from string") {
      symbols.append(($0.int64(0), cellText($0.text(1))))
    }
    parts = Part.allCases.map { part in
      Self.entries(part == .symbol ? symbols : part.names, dialect)
    }
  }

  /// The words by number; nil where a number has none.
  private static func entries(_ names: [(Int64, String)], _ dialect: CSVDialect) -> [Entry?] {
    var words = [String?](repeating: nil, count: Int(names.map(\.0).max() ?? 0) + 1)
    for (number, name) in names { words[Int(number)] = name }
    let shown = words.map { Array(($0 ?? "").utf8) }
    let order = shown.indices.sorted { left, right in
      if shown[left] == shown[right] { return left < right }
      return shown[left].lexicographicallyPrecedes(shown[right])
    }
    var ranks = [Int64](repeating: 0, count: words.count)
    for (rank, number) in order.enumerated() { ranks[number] = Int64(rank) }
    return words.indices.map { number in
      words[number].map { word in
        var line = CSVLine(dialect)
        line.add(printed: word)
        return Entry(word: word, cell: line.buffer, rank: ranks[number])
      }
    }
  }

  func entry(_ number: Int64, _ part: Part) throws(SubledgerError) -> Entry {
    let entries = parts[part.rawValue]
    guard let index = Int(exactly: number), entries.indices.contains(index),
      let entry = entries[index]
    else { throw .identity(name: "every number has its word", rows: ["\(part) \(number)"]) }
    return entry
  }
}
