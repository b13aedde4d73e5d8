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
      guard let row = group.first(where: { $0.key == source.reported.lineage }) else { continue }
      if texts[row.key] == nil {
        let counting = try ledger.versions(ofLineage: row).filter(\.counts)
        texts[row.key] = Dictionary(counting.map { ($0.event.identity, $0.transaction) }) { $1 }
      }
      let transaction = texts[row.key]?[source.reported.identity] ?? ""
      records.append(try record(of: source, in: row, transaction: transaction))
    }
    return records
  }

  func record(
    of source: SourceEvent, in row: LineageRow, transaction: String
  ) throws(SubledgerError) -> Record {
    let (event, sent) = (source.event, source.reported)
    // A lineage's user is also that of its events without user.
    let user = try ledger.userText(sent.user == 0 ? row.user : sent.user) ?? ""
    let subscription = try ledger.originalText(of: row)
    return [
      "provider": .plain(row.provider.name), "app_id": .text(text(row.app)),
      "environment": .plain(row.environment.name), "store": .plain(sent.store.name),
      "user_id": .text(user), "subscription_id": .text(subscription),
      "transaction_id": .text(transaction), "product_id": .text(text(event.product)),
      "kind": .plain(event.kind.name),
      "reported_as": .plain(sent.kind == event.kind ? "" : sent.kind.name),
      "event_at": CSVCell(event.time), "created_at": CSVCell(sent.created),
      "received_at": CSVCell(sent.received),
    ] + (try location(sent.place))
      + ["body": .plain(UInt64(bitPattern: sent.body).hexadecimal)]
  }

  func location(_ place: Provenance) throws(SubledgerError) -> Record {
    if archives[place.archive] == nil {
      archives[place.archive] = try ledger.archiveLabel(place.archive)
    }
    return [
      "archive": .name(archives[place.archive]?.name ?? ""),
      "sha256": .plain(archives[place.archive]?.sha256 ?? ""), "line": .integer(place.line),
      "byte_offset": .integer(place.byteOffset),
    ]
  }

  func text(_ symbol: StringID) -> String { ledger.symbols.words[Int(symbol)] }
}
