import Foundation
import EventStore

/// A person's note on an act.
struct AuditNote: Sendable {
  /// The reason; empty if not given.
  let reason: String
  /// The person; empty if not given.
  let who: String

  /// - Throws: `SubledgerError` of kind `usage` for text that is not a single line.
  init(reason: String?, who: String?) throws(SubledgerError) {
    self.reason = try Self.line(reason, "reason")
    self.who = try Self.line(who, "who")
  }

  private static func line(_ text: String?, _ option: String) throws(SubledgerError) -> String {
    let line = (text ?? "").trimmingCharacters(in: .whitespaces)
    guard !line.unicodeScalars.contains(where: { $0.value < 32 || $0.value == 127 }) else {
      throw SubledgerError(.usage, "--\(option) must be one line of words")
    }
    return line
  }
}

extension NewAuditEntry {
  /// An act that people gave `words` for.
  init(_ deed: AuditEntry.AuditAction, _ words: AuditNote) {
    self.init(deed)
    reason = words.reason
    who = words.who
  }
}
