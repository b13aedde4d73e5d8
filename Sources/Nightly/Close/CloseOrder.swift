public import Vocabulary

/// A month that is to be closed, or opened again, and who says so.
public struct CloseOrder: Sendable {
  /// The month.
  public let month: Month
  /// Why, and who says so.
  let words: ActWords
  /// Whether rows that can still change are frozen as they are.
  public let isForced: Bool

  /// Checks what a person wrote.
  ///
  /// - Throws: `NightError` of kind `usage` for a month that is none, or force without a reason.
  public init(
    month text: String, reason: String?, who: String?, isForced: Bool = false
  ) throws(NightError) {
    month = try Month(typed: text)
    words = try ActWords(reason: reason, who: who)
    self.isForced = isForced
    guard !isForced || !words.reason.isEmpty else {
      throw NightError(.usage, "--force needs --reason", hint: "say why the month cannot wait")
    }
  }
}

extension Month {
  /// Reads what a person wrote.
  init(typed text: String) throws(NightError) {
    guard let month = Month(text: text) else {
      throw NightError(
        .usage, "'\(text)' is no month", hint: "write year and month, such as 2026-10")
    }
    self = month
  }
}
