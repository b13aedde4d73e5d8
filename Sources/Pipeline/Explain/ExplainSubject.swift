import Domain

/// The subject of an explanation.
public enum ExplainSubject: Sendable, Equatable {
  /// The cells of a report in the rows that have these keys; a nil column means every measure.
  case number(report: String, keys: [String: String], column: String?)
  case breakID(String)
  /// A subscription or purchase, by its original transaction id.
  case subscription(String)
  case transaction(String)

  /// Parses the arguments of a command line: a report, keys as `column=value` and a column, or one
  /// id.
  ///
  /// - Throws: `SubledgerError` of kind `usage` for anything else.
  public init(
    words: [String], breakID: String?, subscription: String?, transaction: String?
  ) throws {
    let ids = [
      breakID.map(Self.breakID), subscription.map(Self.subscription),
      transaction.map(Self.transaction),
    ].compactMap(\.self)
    guard ids.count + (words.isEmpty ? 0 : 1) == 1 else {
      throw SubledgerError(
        .usage, "explain needs one subject: a report's number, or one id",
        hint: "for example: subledger explain churn_monthly period=2026-10 churned, "
          + "or --break, --subscription or --transaction with an id")
    }
    if let id = ids.first { self = id } else { self = try Self.number(words) }
  }

  private static func number(_ words: [String]) throws -> ExplainSubject {
    var keys: [String: String] = [:]
    var column: String?
    for word in words.dropFirst() {
      guard let equals = word.unicodeScalars.firstIndex(of: "=") else {
        if let first = column {
          throw SubledgerError(
            .usage, "explain takes one column, not \(first) and \(word)",
            hint: "leave the column out to see all measures of the row")
        }
        column = word
        continue
      }
      let name = String(word[..<equals])
      guard keys.updateValue(String(word[word.index(after: equals)...]), forKey: name) == nil
      else {
        throw SubledgerError(
          .usage, "the key \(name) is given twice",
          hint: "give each key one value, or leave it out to add up the rows of all its values")
      }
    }
    return .number(report: words[0], keys: keys, column: column)
  }
}
