public import Domain

/// A month to close or reopen, with reason and person.
public struct CloseOrder: Sendable {
  /// The month.
  public let month: Month
  /// Reason and person.
  let words: AuditNote
  /// Whether rows that can still change are frozen as they are.
  public let isForced: Bool

  /// Checks what a person wrote.
  ///
  /// - Throws: `SubledgerError` of kind `usage` for a month that is none, or force without a
  ///   reason.
  public init(
    month text: String, reason: String?, who: String?, isForced: Bool = false
  ) throws(SubledgerError) {
    month = try Month(typed: text)
    words = try AuditNote(reason: reason, who: who)
    self.isForced = isForced
    guard !isForced || !words.reason.isEmpty else {
      throw SubledgerError(.usage, "--force needs --reason", hint: "say why the month cannot wait")
    }
  }
}

extension Month {
  /// Reads what a person wrote.
  init(typed text: String) throws(SubledgerError) {
    guard let month = Month(text: text) else {
      throw SubledgerError(
        .usage, "'\(text)' is no month", hint: "write year and month, such as 2026-10")
    }
    self = month
  }
}
