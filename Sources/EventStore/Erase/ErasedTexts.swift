internal import Formats
internal import Domain

/// Takes a person's id out of breaks, and out of what people wrote: decisions, acts, names of
/// files.
struct ErasedTexts {
  private let database: Connection
  private let renaming: Renaming
  private let id: String
  private let pseudonym: String

  /// Episodes of breaks of the person.
  private(set) var breaks: Int64 = 0
  /// New ids of breaks by old ones, where the id was made of the person's.
  private(set) var breakIDs: [String: String] = [:]
  /// Breaks of which the id should be another one and nothing tells which.
  private(set) var lostBreaks: Int64 = 0
  /// Names and paths of files.
  private(set) var archives: Int64 = 0
  /// Decisions that the newest run followed.
  private(set) var decisions: Int64 = 0
  /// Acts whose words named the person.
  private(set) var acts: [Rewriting] = []

  init(_ database: Connection, _ renaming: Renaming, id: String, pseudonym: String) {
    self.database = database
    self.renaming = renaming
    self.id = id
    self.pseudonym = pseudonym
  }

  /// Rewrites the breaks of the person, or of the subscriptions `originals`; `name` gives the id
  /// of a break whose words have changed, and nil when nothing tells it.
  mutating func writeBreaks(
    of originals: Set<String>, lineages: Set<Int64>,
    name: (_ former: Break, _ now: Break) -> String?
  ) throws {
    let select = try Statement(
      database,
      "select \(BreakContent.selected), episode from break_episode order by break_id, episode")
    var found: [(Break, Int64)] = []
    try select.forEachRow { row in
      guard row.text(7) == id || originals.contains(row.text(8)) || lineages.contains(row.int64(19))
      else { return }
      found.append((try BreakContent.read(row), row.int64(21)))
    }
    let assignments = BreakContent.columns.enumerated().map { "\($1) = ?\($0 + 3)" }
    let update = try Statement(
      database,
      """
      update break_episode set break_id = ?23, \(assignments.joined(separator: ", "))
      where break_id = ?1 and episode = ?2
      """)
    // One name for all episodes of a break, though not each may tell it.
    var names: [String: String] = [:]
    for (former, _) in found where names[former.id] == nil {
      names[former.id] = name(former, rewritten(former))
    }
    lostBreaks = Int64(Set(found.map(\.0.id)).count - names.count)
    breakIDs = names.filter { $0.key != $0.value }
    for (former, episode) in found {
      let item = rewritten(former)
      guard item != former || breakIDs[former.id] != nil else { continue }
      breaks += 1
      update.bind(1, former.id)
      update.bind(2, episode)
      BreakContent.bind(item, to: update, from: 3)
      update.bind(23, breakIDs[former.id] ?? former.id)
      try update.run()
    }
  }

  private func rewritten(_ former: Break) -> Break {
    var item = former
    if item.user == id { item.user = pseudonym }
    item.subscription = renaming.applied(toOwn: item.subscription)
    item.transaction = renaming.applied(toOwn: item.transaction)
    item.evidence = renaming.applied(toOwn: item.evidence)
    item.action = renaming.applied(toOwn: item.action)
    return item
  }

  /// Rewrites what the decisions file of the last run said.
  mutating func writeDecisions() throws {
    let select = try Statement(database, "select break_id, reason, who from decision")
    var found: [[String]] = []
    try select.forEachRow { row in found.append((0..<3).map { row.text(Int32($0)) }) }
    let update = try Statement(
      database, "update decision set break_id = ?2, reason = ?3, who = ?4 where break_id = ?1")
    for row in found {
      let words = row[1...].map { renaming.applied(toOther: $0) }
      let place = breakIDs[row[0]] ?? row[0]
      guard place != row[0] || words != Array(row[1...]) else { continue }
      for (index, text) in ([row[0], place] + words).enumerated() {
        update.bind(Int32(index + 1), text)
      }
      try update.run()
      decisions += 1
    }
  }

  /// Rewrites why and by whom things were done.
  mutating func writeActs(_ known: [AuditEntry], _ rewritings: Rewritings) throws {
    let update = try Statement(
      database, "update act set reason = ?2, who = ?3 where id = ?1")
    for var act in known {
      let (reason, who) = (act.reason, act.who)
      let old = rewritings.digest(ofAct: act)
      act.reason = renaming.applied(toOther: reason)
      act.who = renaming.applied(toOther: who)
      guard act.reason != reason || act.who != who else { continue }
      update.bind(1, act.id)
      update.bind(2, act.reason)
      update.bind(3, act.who)
      try update.run()
      acts.append(.act(act.id, old: old, new: sha256(of: Array(act.text.utf8))))
    }
  }

  /// Rewrites names and paths of files.
  mutating func writeArchives() throws {
    let select = try Statement(
      database, "select id, name, path, bytes, modified_ms, inode from archive order by id")
    var found: [(id: Int64, name: String, path: String, check: Int64)] = []
    try select.forEachRow { row in
      let (name, path) = (row.text(1), row.text(2))
      let place = renaming.applied(toOther: path)
      let label = renaming.applied(toOther: name)
      guard place != path || label != name else { return }
      var bytes = place
      let check = bytes.withUTF8 {
        RowCheck.file(
          path: UnsafeRawBufferPointer($0), bytes: row.int64(3), modified: row.int64(4),
          inode: row.int64(5))
      }
      found.append((row.int64(0), label, place, check))
    }
    let update = try Statement(
      database, "update archive set name = ?2, path = ?3, path_check = ?4 where id = ?1")
    for row in found {
      update.bind(1, row.id)
      update.bind(2, try freeName(row.name, of: row.id))
      update.bind(3, row.path)
      update.bind(4, row.check)
      try update.run()
    }
    archives = Int64(found.count)
  }

  /// `name`, or with a number behind it where another row of the same bytes has it: of a file that
  /// was read under the id again after the person was erased.
  private func freeName(_ name: String, of archive: Int64) throws -> String {
    let taken = try database.statement(
      """
      select 1 from archive as other join archive as own using (sha256, kind)
      where own.id = ?1 and other.id <> ?1 and other.name = ?2
        and ifnull(other.captured_ms, 0) = ifnull(own.captured_ms, 0)
      """)
    var free = name
    var number = 1
    taken.bind(1, archive)
    taken.bind(2, free)
    while try taken.first({ _ in true }) ?? false {
      number += 1
      free = "\(name).\(number)"
      taken.bind(2, free)
    }
    return free
  }
}
