import Domain

/// Up to where a ledger is to be pruned, why, and who says so.
public struct PruneOrder: Sendable {
  /// The first month of which everything is kept.
  let month: Month
  /// Why, and who says so.
  let words: AuditNote

  /// Checks what a person wrote.
  ///
  /// - Throws: `SubledgerError` of kind `usage` for a month that is none.
  public init(before text: String, reason: String?, who: String?) throws(SubledgerError) {
    month = try Month(typed: text)
    words = try AuditNote(reason: reason, who: who)
  }
}
