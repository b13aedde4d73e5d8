import EventStore
import Subscriptions
import Reports
import Domain

/// Creates records of events, with texts next to the numbers that the ledger stores.
final class EventRecords {
  private let ledger: Ledger
  private var archives: [Int32: (name: String, sha256: String)] = [:]
  /// Transaction ids of the most recently used fold group, by lineage and identity.
  private var texts: [Int64: [Int64: String]] = [:]
  private var group: Int64?

  init(_ ledger: Ledger) { self.ledger = ledger }

  /// Returns records of the events of `evidence`; `group` are the lineages of its fold group.
  func records(
    of evidence: [SourceEvent], _ group: [LineageRow]
  ) throws(SubledgerError) -> [Record] {
    if self.group != group.first?.key {
      self.group = group.first?.key
      texts = [:]
    }
    var records: [Record] = []
    for source in evidence {
      let (event, sent) = (source.event, source.reported)
      guard let row = group.first(where: { $0.key == sent.lineage }) else { continue }
      if texts[row.key] == nil {
        let counting = try ledger.versions(ofLineage: row).filter(\.counts)
        texts[row.key] = Dictionary(counting.map { ($0.event.identity, $0.transaction) }) { $1 }
      }
      var record = try record(
        of: sent, in: row, transaction: texts[row.key]?[sent.identity] ?? "")
      record["product_id"] = .text(text(event.product))
      record["kind"] = .plain(event.kind.name)
      record["reported_as"] = .plain(sent.kind == event.kind ? "" : sent.kind.name)
      record["event_at"] = CSVCell(event.time)
      records.append(record)
    }
    return records
  }

  func record(
    of event: Event, in row: LineageRow, transaction: String
  ) throws(SubledgerError) -> Record {
    // A lineage's user is also that of its events without user.
    let user = try ledger.userText(event.user == 0 ? row.user : event.user) ?? ""
    let subscription = try ledger.originalText(of: row)
    return Record([
      ("provider", .plain(row.provider.name)), ("app_id", .text(text(row.app))),
      ("environment", .plain(row.environment.name)), ("store", .plain(event.store.name)),
      ("user_id", .text(user)), ("subscription_id", .text(subscription)),
      ("transaction_id", .text(transaction)), ("product_id", .text(text(event.product))),
      ("kind", .plain(event.kind.name)), ("reported_as", .plain("")),
      ("event_at", CSVCell(event.time)), ("created_at", CSVCell(event.created)),
      ("received_at", CSVCell(event.received)),
    ]) + (try location(event.place))
      + Record([("body", .plain(UInt64(bitPattern: event.body).hexadecimal))])
  }

  func location(_ place: Provenance) throws(SubledgerError) -> Record {
    if archives[place.archive] == nil {
      archives[place.archive] = try ledger.archiveLabel(place.archive)
    }
    return Record([
      ("archive", .name(archives[place.archive]?.name ?? "")),
      ("sha256", .plain(archives[place.archive]?.sha256 ?? "")), ("line", .integer(place.line)),
      ("byte_offset", .integer(place.byteOffset)),
    ])
  }

  func text(_ symbol: StringID) -> String { ledger.symbols.words[Int(symbol)] }
}
