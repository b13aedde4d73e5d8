import Domain

/// A person to erase, the reason, and who erases.
public struct EraseOrder: Sendable {
  /// The id as the provider writes it.
  let user: String
  /// Reason and person.
  let words: AuditNote

  /// Checks what a person wrote.
  ///
  /// - Throws: `SubledgerError` of kind `usage`, which does not repeat the id.
  public init(user: String, reason: String, who: String?) throws(SubledgerError) {
    self.user = user
    words = try AuditNote(reason: reason, who: who)
    guard !user.isEmpty else {
      throw SubledgerError(
        .usage, "no user is named", hint: "give the id as the provider writes it")
    }
    guard !words.reason.isEmpty else {
      throw SubledgerError(
        .usage, "erase needs --reason", hint: "say on whose demand, such as a ticket's number")
    }
    let redaction = Redaction(id: user, name: "")
    for text in [words.reason, words.who] where redaction.applied(to: text) != text {
      throw SubledgerError(
        .usage, "--reason or --who holds the id that is to be erased",
        hint: "the act is kept; say it without the id")
    }
  }
}
