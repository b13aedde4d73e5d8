import Foundation
public import Vocabulary

/// A month that is to be closed, or opened again, and who says so.
public struct CloseOrder: Sendable {
  /// The month.
  public let month: Month
  /// Why; empty when nobody said.
  public let reason: String
  /// Who says so; empty when nobody said.
  public let who: String
  /// Whether rows that can still change are frozen as they are.
  public let isForced: Bool

  /// Checks what a person wrote.
  ///
  /// - Throws: `NightError` of kind `usage` for a month that is none, or force without a reason.
  public init(
    month text: String, reason: String?, who: String?, isForced: Bool = false
  ) throws(NightError) {
    month = try Month(typed: text)
    self.reason = try Self.line(reason, "reason")
    self.who = try Self.line(who, "who")
    self.isForced = isForced
    guard !isForced || !self.reason.isEmpty else {
      throw NightError(.usage, "--force needs --reason", hint: "say why the month cannot wait")
    }
  }

  /// One line of words.
  static func line(_ text: String?, _ option: String) throws(NightError) -> String {
    let line = (text ?? "").trimmingCharacters(in: .whitespaces)
    guard !line.unicodeScalars.contains(where: { $0.value < 32 || $0.value == 127 }) else {
      throw NightError(.usage, "--\(option) must be one line of words")
    }
    return line
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
