internal import Formats
public import Domain

/// An entry of the audit log: what a person did to the ledger.
public struct AuditEntry: Sendable, Equatable, Codable {
  /// The kind of action.
  public enum AuditAction: String, Sendable, CaseIterable, Codable {
    /// The numbers of a month were frozen.
    case close
    /// A closed month was reopened.
    case reopen
    /// A person's identifiers were removed.
    case erase
    /// Content that is no longer needed was removed.
    case prune
    /// Lines were retracted.
    case retract
    /// Retracted lines were readmitted.
    case readmit

    /// Whether it can change sealed content.
    var rewrites: Bool { self != .close && self != .reopen }
  }

  /// Number from 1, in order; like `run` and `sha256`, set when the entry is recorded.
  public var id: Int64 = 0
  /// The newest published run; later runs include the entry.
  public var run: Int64 = 0
  /// The action.
  public var action: AuditAction
  /// The month that was closed or reopened.
  public var month: Month?
  /// The reason; empty if unknown.
  public var reason = ""
  /// Person who did it; empty if unknown.
  public var who = ""
  /// Time zone of the month; empty without one.
  public var zone = ""
  /// The facts of the entry, one per line.
  public var content = ""
  /// SHA-256 of `text` when the entry was recorded, as 64 hexadecimal digits.
  public var sha256 = ""

  /// The words of each fact.
  var facts: [[Substring]] { content.split(separator: "\n").map { $0.split(separator: " ") } }

  /// The columns of its table, in the order in which runs seal them.
  static let columns = "id, run, what, zone, period, reason, who, content, sha256"

  /// The whole content of the entry, for its digest.
  ///
  /// `erase` replaces a person's id in the text of an entry, and names that entry in its own.
  public var text: String {
    [
      "\(id) after run \(run): \(action.rawValue)", "\(zone) \(month?.text ?? "-")", reason, who,
      content,
    ].joined(separator: "\n")
  }
}

extension AuditEntry {
  /// Creates an entry without texts, to be recorded.
  public init(_ action: AuditAction) { self.init(action: action) }
}

extension Ledger {
  /// Returns all audit entries, in order.
  public func acts() throws(SubledgerError) -> [AuditEntry] {
    try access("read the acts") { try $0.acts() }
  }

  /// Records an entry after the newest published run; returns its number.
  @discardableResult
  public func record(_ new: AuditEntry) throws(SubledgerError) -> Int64 {
    try change("record an act") { database in
      let next = try database.first(
        """
        select (select coalesce(max(id), 0) + 1 from act),
          (select coalesce(max(id), 0) from run where published is not null)
        """
      ) { ($0.int64(0), $0.int64(1)) }
      var act = new
      (act.id, act.run) = next ?? (1, 0)
      act.sha256 = Formats.sha256(of: Array(act.text.utf8))
      try database.run(
        "insert into act (\(AuditEntry.columns)) values (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        act.id, act.run, act.action, act.zone, act.month, act.reason, act.who, act.content,
        act.sha256)
      return act.id
    }
  }
}

extension Connection {
  /// Returns all audit entries, in order.
  func acts() throws -> [AuditEntry] {
    try all("select \(AuditEntry.columns) from act order by id") { row in
      AuditEntry(
        id: row.int64(0), run: row.int64(1), action: try row.value(2),
        month: row.isNull(4) ? nil : row.month(4), reason: row.text(5), who: row.text(6),
        zone: row.text(3), content: row.text(7), sha256: row.text(8))
    }
  }
}
