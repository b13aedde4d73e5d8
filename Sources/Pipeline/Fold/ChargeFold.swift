import Domain
import EventStore
import Reports
import Subscriptions

/// Converts the charges of fold groups to rows of the list of charges, on a worker's connection.
struct ChargeFold {
  private let writer: ChargeRowWriter
  private let ledger: Ledger
  /// Receives many rows at once, sorted; nil to keep all.
  private let take: ((ChargePart) throws -> Void)?
  /// The user whose id was looked up last.
  private var user: (key: Int64, text: String) = (0, "")

  /// Creates a fold that reads `ledger`, the worker's connection.
  init(
    _ writer: ChargeRowWriter, _ ledger: Ledger, take: ((ChargePart) throws -> Void)? = nil
  ) {
    (self.writer, self.ledger, self.take) = (writer, ledger, take)
  }

  /// A fold group with its events up to an archive.
  struct Group {
    let rows: [LineageRow]
    let events: [Event]
    var archive = Int32.max
    var sources: EventSources?
    /// The lineage, user and cells of the last charge.
    var owner: (lineage: Int64, user: Int64, cells: [UInt8])?
    /// Each lineage's place in `rows`, and the last user in its events, 0 for none.
    lazy var members: [Int64: (place: Int, user: Int64)] = {
      var members: [Int64: (place: Int, user: Int64)] = [:]
      for (place, row) in rows.enumerated() { members[row.key] = (place, 0) }
      for event in events.reversed() where event.user != 0 {
        if members[event.lineage]?.user == 0 { members[event.lineage]?.user = event.user }
        if rows.count == 1 { break }
      }
      return members
    }()
  }

  /// Rows to which `write` adds.
  var emptyPart: ChargePart { ChargePart(writer.dialect) }

  /// Adds the charges of a subscription in a group to `part`.
  mutating func write(
    _ history: SubscriptionHistory, of group: inout Group, to part: inout ChargePart
  ) throws {
    let writer = writer
    try history.forEachCharge { charge in
      let known =
        try group.sources
        ?? writer.sources.sources(of: group.events, in: group.rows, from: ledger)
      group.sources = known
      let owner = try owner(of: charge.event, in: &group)
      try writer.add(charge, of: owner, known, knownBy: group.archive, to: &part)
      if let take, part.isLarge {
        try ledger.checkStop()
        part.sort()
        try take(part)
        part.removeAll()
      }
    }
  }

  private mutating func owner(of event: Event, in group: inout Group) throws -> [UInt8] {
    if let last = group.owner, (last.lineage, last.user) == (event.lineage, event.user) {
      return last.cells
    }
    let member = group.members[event.lineage]
    let row = member.map { group.rows[$0.place] }
    let newest = member?.user ?? 0
    let user = event.user == 0 ? newest : event.user
    // An earlier user's subscriptions are not folded again when that user's id changes.
    let hasCustomer = writer.hasCustomerIDs && user == newest
    let cells = writer.owner(
      user: try text(of: user),
      customer: hasCustomer ? try ledger.customerID(of: user, knownBy: group.archive) : "",
      subscription: try row.map { try ledger.originalText(of: $0) } ?? "")
    group.owner = (event.lineage, event.user, cells)
    return cells
  }

  private mutating func text(of key: Int64) throws -> String {
    if key == 0 { return "" }
    if user.key != key { user = (key, try ledger.userText(key) ?? "") }
    return user.text
  }
}
