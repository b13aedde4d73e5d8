import EventStore
import Subscriptions
import Domain

/// One part of the explained number or subject, with its source events.
struct Entry {
  /// Business time; nil without one.
  var at: Instant?
  /// Its description.
  var step: String
  /// Its contribution by column.
  var shares: [(column: String, text: String)] = []
  /// The break, when it is one.
  var breakID = ""
  /// The one that carries the share first, then what else decides about it.
  var events: [EventLine] = []
}

/// An event with its words, as an explanation shows it.
struct EventLine: Equatable {
  /// Whether it only decides about the share that another event carries.
  var isContext = false
  var provider = ""
  var app = ""
  var environment = ""
  var store = ""
  var user = ""
  var subscription = ""
  var transaction = ""
  var product = ""
  /// What happened, as the fold reads it.
  var kind = ""
  /// The reported kind, if the fold reads it as another kind.
  var toldAs = ""
  /// When it happened, as the fold reads it.
  var time = Instant(milliseconds: 0)
  var created: Instant?
  var received: Instant?
  var archive = ""
  var sha256 = ""
  var line: Int64 = 0
  var byteOffset: Int64 = 0
  /// The fingerprint of the body's bytes.
  var body: Int64 = 0

  /// The fingerprint as sixteen hexadecimal digits.
  var bodyText: String { UInt64(bitPattern: body).hexadecimal }
}

/// Puts the words beside the numbers of events.
final class EventWords {
  private let ledger: Ledger
  private var archives: [Int32: ArchiveLabel] = [:]
  /// Transaction ids of the fold group that was last asked for, by lineage and identity.
  private var texts: [Int64: [Int64: String]] = [:]
  private var group: Int64?

  init(_ ledger: Ledger) { self.ledger = ledger }

  /// The lines of a contribution's `evidence`; `group` are the lineages of its fold group.
  func lines(_ evidence: [SourceEvent], _ group: [LineageRow]) throws(LedgerError) -> [EventLine] {
    if self.group != group.first?.key {
      self.group = group.first?.key
      texts = [:]
    }
    var lines: [EventLine] = []
    for (index, proof) in evidence.enumerated() {
      let told = proof.told
      guard let row = group.first(where: { $0.key == told.lineage }) else { continue }
      if texts[row.key] == nil { texts[row.key] = try transactions(of: row) }
      var line = try self.line(told, of: row, transaction: texts[row.key]?[told.identity] ?? "")
      line.isContext = index > 0
      line.kind = proof.event.kind.name
      line.toldAs = told.kind == proof.event.kind ? "" : told.kind.name
      line.time = proof.event.time
      line.product = word(proof.event.product)
      lines.append(line)
    }
    return lines
  }

  /// One reported event of a lineage.
  func line(
    _ event: Event, of row: LineageRow, transaction: String
  ) throws(LedgerError) -> EventLine {
    var line = EventLine()
    line.provider = row.provider.name
    line.app = word(row.app)
    line.environment = row.environment.name
    line.store = event.store.name
    line.user = try user(of: event, row)
    line.subscription = row.originalText
    line.transaction = transaction
    line.product = word(event.product)
    line.kind = event.kind.name
    line.time = event.time
    line.created = event.created
    line.received = event.received
    try place(event.place, in: &line)
    line.body = event.body
    return line
  }

  /// The user of an event; the lineage's user if it names none.
  private func user(of event: Event, _ row: LineageRow) throws(LedgerError) -> String {
    guard event.user != 0, event.user != row.user else { return row.userText }
    return try ledger.userText(event.user) ?? ""
  }

  /// Formats a provenance.
  func place(_ place: Provenance, in line: inout EventLine) throws(LedgerError) {
    if archives[place.archive] == nil {
      archives[place.archive] = try ledger.archiveLabel(place.archive)
    }
    line.archive = archives[place.archive]?.name ?? ""
    line.sha256 = archives[place.archive]?.sha256 ?? ""
    line.line = place.line
    line.byteOffset = place.byteOffset
  }

  func word(_ symbol: StringID) -> String { ledger.symbols.words[Int(symbol)] }

  private func transactions(of row: LineageRow) throws(LedgerError) -> [Int64: String] {
    var texts: [Int64: String] = [:]
    for version in try ledger.versions(ofLineage: row) where version.counts {
      texts[version.event.identity] = version.transaction
    }
    return texts
  }
}
