internal import GRDB
internal import Vocabulary

/// Writes events of a wave, lineage by lineage in the order of the table.
struct WaveWriter {
  private let wave: EventWave
  private let range: Range<Int>
  private let database: Database
  private let lineages: LineageWriter
  private let versions: EventVersions
  private let index: IdentityIndex
  private let isEmpty: Bool
  private let hasContests: Bool
  private let published: Int32

  /// A writer of the events in `range`, in order of arrival.
  init(
    _ wave: EventWave, range: Range<Int>, words: [String], database: Database
  ) throws {
    self.wave = wave
    self.range = range
    self.database = database
    lineages = try LineageWriter(database)
    versions = try EventVersions(database, words: words, lineages: lineages)
    index = try IdentityIndex(database)
    func isAny(_ table: String) throws -> Bool {
      try RawStatement(database, "select 1 from \(table) limit 1").first { _ in true } ?? false
    }
    isEmpty = try !isAny("lineage")
    hasContests = try isAny("contested")
    published = try ArrivalRun(in: database).published(in: database)
  }

  /// What became of each event.
  func write() throws -> [EventFate] {
    isEmpty ? try database.withoutIndex("lineage_by_user", writeEvents) : try writeEvents()
  }

  private func writeEvents() throws -> [EventFate] {
    var outcome = Outcome(fates: Array(repeating: .new, count: range.count))
    let places = entriesByLineage()
    let order = wave.lineages.indices.filter { places.starts[$0] < places.starts[$0 + 1] }
      .sorted { wave.lineages[$0].key < wave.lineages[$1].key }
    var merge = LineageMerge(hasContests: hasContests, published: published)
    for lineage in order {
      let entries = sorted(places.entries[places.starts[lineage]..<places.starts[lineage + 1]])
      try write(wave.lineages[lineage], entries, &merge, &outcome)
    }
    for doubt in outcome.doubts { try versions.settle(doubt.record, in: doubt.lineage) }
    try claim(&outcome)
    return outcome.fates
  }

  private func write(
    _ lineage: EventWave.Lineage, _ entries: ArraySlice<Int32>, _ merge: inout LineageMerge,
    _ outcome: inout Outcome
  ) throws {
    func add(_ stored: UnsafeRawBufferPointer) throws {
      try merge.begin(lineage, stored: stored)
      for entry in entries {
        let delivered = wave.entries[Int(entry)]
        let fate = try merge.add(delivered)
        if fate == .new {
          outcome.claims.append(
            IdentityIndex.Claim(
              identity: delivered.identity, lineage: lineage.key, entry: entry))
        } else {
          outcome.fates[Int(entry) - range.lowerBound] = fate
        }
      }
      merge.finish()
      if merge.isChanged { EventRecords.encode(merge.records, to: &outcome.events) }
    }
    var isKnown = false
    if isEmpty {
      try add(UnsafeRawBufferPointer(start: nil, count: 0))
    } else {
      isKnown = try lineages.withEvents(of: lineage, add)
    }
    guard merge.isChanged else { return }
    let user = merge.records.user
    if isKnown {
      try lineages.renew(lineage.key, user: user, merge.records, events: outcome.events)
    } else {
      try lineages.make(lineage, user: user, merge.records, events: outcome.events)
    }
    for record in merge.doubtful {
      outcome.doubts.append(Doubt(lineage: lineage, record: record))
    }
  }

  /// Claims the identities of new events; one that another lineage holds is in conflict with it.
  private func claim(_ outcome: inout Outcome) throws {
    IdentityIndex.sort(&outcome.claims)
    var rivals: [(IdentityIndex.Claim, ClosedRange<Int64>)] = []
    try index.add(outcome.claims) { rivals.append(($0, $1)) }
    for (claim, keys) in rivals {
      let entry = wave.entries[Int(claim.entry)]
      let fate = try versions.settle(
        EventRecord(entry), in: wave.lineages[Int(entry.lineage)], rivals: keys)
      if fate != .new { outcome.fates[Int(claim.entry) - range.lowerBound] = fate }
    }
  }

  /// The entries of each lineage, in order of arrival: those of lineage `i` are
  /// `entries[starts[i]..<starts[i + 1]]`.
  private func entriesByLineage() -> (entries: [Int32], starts: [Int]) {
    var starts = Array(repeating: 0, count: wave.lineages.count + 1)
    for entry in range { starts[Int(wave.entries[entry].lineage) + 1] += 1 }
    for lineage in wave.lineages.indices { starts[lineage + 1] += starts[lineage] }
    var ends = starts
    var entries = [Int32](repeating: 0, count: range.count)
    for entry in range {
      let lineage = Int(wave.entries[entry].lineage)
      entries[ends[lineage]] = Int32(entry)
      ends[lineage] += 1
    }
    return (entries, starts)
  }

  /// By time and identity, copies in order of arrival; most come so already.
  private func sorted(_ entries: ArraySlice<Int32>) -> ArraySlice<Int32> {
    func precedes(_ left: Int32, _ right: Int32) -> Bool {
      let (one, other) = (wave.entries[Int(left)], wave.entries[Int(right)])
      if one.time != other.time { return one.time < other.time }
      return one.identity != other.identity ? one.identity < other.identity : left < right
    }
    var isSorted = true
    for index in entries.indices.dropLast() where !precedes(entries[index], entries[index + 1]) {
      isSorted = false
    }
    return isSorted ? entries : entries.sorted(by: precedes)[...]
  }
}

extension Database {
  /// Runs `body` while an index is away, and makes the index anew: in one go it is made three times
  /// as fast as row by row, and its pages are full.
  func withoutIndex<Value>(_ name: String, _ body: () throws -> Value) throws -> Value {
    let definition = try RawStatement(self, "select sql from sqlite_schema where name = '\(name)'")
      .first { $0.text(0) }
    try execute(sql: "drop index \(name)")
    let value = try body()
    if let definition { try execute(sql: definition) }
    return value
  }
}

/// A version of which it is to be found out whether it counts.
private struct Doubt {
  let lineage: EventWave.Lineage
  let record: EventRecord
}

/// What writing has come to so far.
private struct Outcome {
  var fates: [EventFate]
  var claims: [IdentityIndex.Claim] = []
  var doubts: [Doubt] = []
  /// The events of one lineage, in memory that is used again.
  var events = ByteWriter()

  init(fates: [EventFate]) {
    self.fates = fates
    claims.reserveCapacity(fates.count)
  }
}
