import Foundation
import Ledger

/// What a person says beside an act on the ledger.
struct ActWords: Sendable {
  /// Why; empty when nobody said.
  let reason: String
  /// Who says so; empty when nobody said.
  let who: String

  /// - Throws: `NightError` of kind `usage` for words that are no single line.
  init(reason: String?, who: String?) throws(NightError) {
    self.reason = try Self.line(reason, "reason")
    self.who = try Self.line(who, "who")
  }

  private static func line(_ text: String?, _ option: String) throws(NightError) -> String {
    let line = (text ?? "").trimmingCharacters(in: .whitespaces)
    guard !line.unicodeScalars.contains(where: { $0.value < 32 || $0.value == 127 }) else {
      throw NightError(.usage, "--\(option) must be one line of words")
    }
    return line
  }
}

extension NewAct {
  /// An act that people gave `words` for.
  init(_ deed: Act.Deed, _ words: ActWords) {
    self.init(deed)
    reason = words.reason
    who = words.who
  }
}
