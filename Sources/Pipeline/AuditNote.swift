import Foundation
import EventStore
import Domain

/// Why a person acts on the ledger, and who it is.
public struct AuditNote: Sendable {
  /// Why; empty when it is not given.
  let reason: String
  /// Who; empty when it is not given.
  let who: String

  /// Checks what a person wrote.
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
  /// An act that a person gave `note` for.
  init(_ deed: AuditAction, _ note: AuditNote) {
    self.init(deed)
    reason = note.reason
    who = note.who
  }
}

extension Month {
  /// Reads what a person wrote.
  init(typed text: String) throws {
    guard let month = Month(text: text) else {
      throw SubledgerError(
        .usage, "\"\(text)\" is not a month", hint: "write year and month, such as 2026-10")
    }
    self = month
  }
}
