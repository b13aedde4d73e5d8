internal import Formats
public import Domain

/// What a person did to the ledger.
public struct AuditEntry: Sendable, Equatable, Codable {
  /// What was done.
  public enum AuditAction: String, Sendable, CaseIterable, Codable {
    /// The numbers of a month were frozen.
    case close
    /// A closed month was opened again.
    case reopen
    /// A person's identifiers were removed.
    case erase
    /// Content that nothing needs any more was removed.
    case prune
    /// Lines were taken out.
    case retract
    /// Retracted lines were taken in again.
    case readmit

    /// Whether it can change what runs have sealed.
    var rewrites: Bool { self != .close && self != .reopen }
  }

  /// From 1, in order; like `run` and `sha256` set when it is recorded.
  public var id: Int64 = 0
  /// The newest published run; later runs include the act.
  public var run: Int64 = 0
  /// The action.
  public var deed: AuditAction
  /// The month that was closed or opened again.
  public var month: Month?
  /// The reason; empty if unknown.
  public var reason = ""
  /// Who did it; empty if unknown.
  public var who = ""
  /// Time zone of the month; empty without one.
  public var zone = ""
  /// The facts of the act, one a line.
  public var content = ""
  /// Of `text` when the act was done, as 64 hex digits.
  public var sha256 = ""

  /// The columns of its table, in the order in which runs seal them.
  static let columns = "id, run, what, zone, period, reason, who, content, sha256"

  /// The whole content of the act, for its digest.
  ///
  /// `erase` replaces a person's id in the text of an act; the act of `erase` names the changed
  /// one.
  public var text: String {
    [
      "\(id) after run \(run): \(deed.rawValue)", "\(zone) \(month?.text ?? "-")", reason, who,
      content,
    ].joined(separator: "\n")
  }
}

extension AuditEntry {
  /// An act without words, to be recorded.
  public init(_ deed: AuditAction) { self.init(deed: deed) }
}

extension Ledger {
  /// Everything that people did to the ledger, in order.
  public func acts() throws(SubledgerError) -> [AuditEntry] {
    try access("read the acts") { try $0.acts() }
  }

  /// Records an act after the newest run that published; gives its number.
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
        act.id, act.run, act.deed, act.zone, act.month, act.reason, act.who, act.content,
        act.sha256)
      return act.id
    }
  }
}

extension Connection {
  /// Everything that people did to the ledger, in order.
  func acts() throws -> [AuditEntry] {
    try all("select \(AuditEntry.columns) from act order by id") { row in
      AuditEntry(
        id: row.int64(0), run: row.int64(1), deed: try row.value(2),
        month: row.isNull(4) ? nil : row.month(4), reason: row.text(5), who: row.text(6),
        zone: row.text(3), content: row.text(7), sha256: row.text(8))
    }
  }
}
