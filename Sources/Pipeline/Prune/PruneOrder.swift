import Domain

/// The month up to which to prune a ledger, with reason and person.
public struct PruneOrder: Sendable {
  /// The first month that is kept whole.
  let month: Month
  /// Reason and person.
  let words: AuditNote

  /// Checks what a person wrote.
  ///
  /// - Throws: `SubledgerError` of kind `usage` for a month that is none.
  public init(before text: String, reason: String?, who: String?) throws(SubledgerError) {
    month = try Month(typed: text)
    words = try AuditNote(reason: reason, who: who)
  }
}
