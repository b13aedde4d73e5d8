internal import Domain

extension Ledger {
  /// Gives every word that has none yet a symbol, for words that no event brought.
  ///
  /// A ledger that is only read stays without them.
  public func learn(_ words: [String]) throws(LedgerError) {
    var table = StringTable()
    for word in words where symbol(word) == nil { _ = table.symbol(word) }
    guard table.words.count > 1 else { return }
    guard try !access("learn words", { $0.isReadOnly }) else { return }
    try change("keep the words of a price book") { _ = try translate(table, in: $0) }
  }
}
