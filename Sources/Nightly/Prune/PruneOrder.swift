import Vocabulary

/// Up to where a ledger is to be pruned, why, and who says so.
public struct PruneOrder: Sendable {
  /// The first month of which everything is kept.
  let month: Month
  /// Why; empty when nobody said.
  let reason: String
  /// Who says so; empty when nobody said.
  let who: String

  /// Checks what a person wrote.
  ///
  /// - Throws: `NightError` of kind `usage` for a month that is none.
  public init(before text: String, reason: String?, who: String?) throws(NightError) {
    let order = try CloseOrder(month: text, reason: reason, who: who)
    month = order.month
    self.reason = order.reason
    self.who = order.who
  }
}
