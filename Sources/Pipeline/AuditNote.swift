import Foundation
import EventStore
import Domain

/// Who acts on the ledger, and why.
public struct AuditNote: Sendable {
  /// Reason; empty when not given.
  let reason: String
  /// Person; empty when not given.
  let who: String

  /// Checks the texts of a person.
  ///
  /// - Throws: `SubledgerError` of kind `usage` for more than one line.
  public init(reason: String?, who: String?) throws {
    self.reason = try Self.line(reason, "reason")
    self.who = try Self.line(who, "who")
  }

  func requireReason(of option: String, hint: String) throws {
    if reason.isEmpty { throw SubledgerError(.usage, "\(option) needs --reason", hint: hint) }
  }

  private static func line(_ text: String?, _ option: String) throws -> String {
    let line = (text ?? "").trimmingCharacters(in: .whitespaces)
    guard !line.unicodeScalars.contains(where: { $0.value < 32 || $0.value == 127 }) else {
      throw SubledgerError(.usage, "--\(option) must be one line of words")
    }
    return line
  }
}

extension AuditEntry {
  init(
    _ action: AuditAction, _ note: AuditNote, of month: Month? = nil, in zone: String = "",
    content: String = ""
  ) {
    self.init(action)
    (reason, who, self.month, self.zone) = (note.reason, note.who, month, zone)
    self.content = content
  }
}

extension Month {
  /// Parses the text that a person typed.
  init(typed text: String) throws {
    guard let month = Month(text: text) else {
      throw SubledgerError(
        .usage, "\"\(text)\" is not a month", hint: "write year and month, such as 2026-10")
    }
    self = month
  }
}
