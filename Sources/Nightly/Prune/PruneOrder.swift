import Vocabulary

/// Up to where a ledger is to be pruned, why, and who says so.
public struct PruneOrder: Sendable {
  /// The first month of which everything is kept.
  let month: Month
  /// Why, and who says so.
  let words: ActWords

  /// Checks what a person wrote.
  ///
  /// - Throws: `NightError` of kind `usage` for a month that is none.
  public init(before text: String, reason: String?, who: String?) throws(NightError) {
    month = try Month(typed: text)
    words = try ActWords(reason: reason, who: who)
  }
}
