public import Domain

extension Ledger {
  /// Returns archives with lines of a gzip member with a wrong checksum, if the intact file arrived
  /// earlier or later: with the same name, and with the same length or mostly the same events.
  public func replacedDamage() throws(SubledgerError) -> [ArchiveRecord] {
    try all(
      "look for damaged archives",
      """
      \(ArchiveRecord.select)
      where provisional_from is not null and skipped < lines and exists (
        select 1 from archive as whole
        where whole.name = archive.name and whole.kind = archive.kind
          and whole.id <> archive.id and whole.damage_offset is null
          and (
            whole.bytes = archive.bytes
            or 2 * iif(whole.id > archive.id, whole.duplicates, archive.duplicates)
              >= archive.accepted + archive.duplicates))
      order by id
      """
    ) { try ArchiveRecord($0) }
  }

  /// Returns for each feed the time of the first event from such a line, and of the first event of
  /// the subscriptions of all of these; reads all events if there are such lines.
  public func provisionalSince() throws -> [Feed: (event: Instant, subscription: Instant)] {
    let lines = try all(
      "look for damaged archives",
      """
      select id, provisional_from from archive
      where kind = 'events' and imported_until >= provisional_from
      """
    ) { (Int32(truncatingIfNeeded: $0.int64(0)), $0.int64(1)) }
    let offsets = Dictionary(uniqueKeysWithValues: lines)
    var since: [Feed: (event: Instant, subscription: Instant)] = [:]
    guard !offsets.isEmpty else { return since }
    try forEachLineage { _, events in
      for event in events {
        guard let offset = offsets[event.place.archive], event.place.byteOffset >= offset else {
          continue
        }
        let feed = Feed(provider: event.provider, app: event.app)
        let first = events.first?.time ?? event.time
        let known = since[feed] ?? (event.time, first)
        since[feed] = (min(known.event, event.time), min(known.subscription, first))
      }
    }
    return since
  }
}
