internal import Domain

/// The lineages that may contain an identity.
///
/// Of each identity and its lineage the first 40 and 16 bits are stored: six bytes instead of
/// twenty-five; a lookup reads the few lineages with those 16 bits. Rows contain some hundred
/// entries, sorted: the distance from the previous entry, then the lineage's bits, low byte first.
/// The first distance is from `identity.first`.
struct IdentityIndex {
  /// An identity that its lineage did not have.
  struct Claim {
    let identity: Int64
    let lineage: Int64
    /// Number of the event among all that are written together.
    let number: Int64
  }

  /// Claims of identities that may be in other lineages, with the ranges of lineage keys to search.
  struct Rivals {
    var claims: [Claim]
    let keys: [ClosedRange<Int64>]
  }

  private struct Entry {
    let key: Int64
    let lineage: UInt16
  }

  /// Entries take about 5.4 bytes each, so three rows fill a page of the ledger.
  private static let entriesMax = 480
  /// Number of entries after all stored ones that are gathered before they are written.
  private static let gatheredMax = 65_536

  private let database: Connection

  init(_ database: Connection) { self.database = database }

  /// Adds sorted claims, and calls `body` with those whose identity may be in another lineage.
  func add(_ claims: [Claim], _ body: (Rivals) throws -> Void) throws {
    var start = 0
    while start < claims.count {
      var known: [Entry] = []
      var added: [Entry] = []
      let (page, end) = try readPage(around: Self.key(claims[start].identity), into: &known)
      if let page { try database.run("delete from identity where first = ?", page) }
      var rest = known[...]
      while start < claims.count, Self.key(claims[start].identity) < end {
        let key = Self.key(claims[start].identity)
        rest = rest.drop { $0.key < key }
        let own = rest.prefix { $0.key == key }
        rest = rest.dropFirst(own.count)
        let beginnings = try add(claims, from: &start, known: own, body)
        for lineage in beginnings { added.append(Entry(key: key, lineage: lineage)) }
        // Entries after all stored ones are written page by page, not gathered.
        if rest.isEmpty, end == .max, known.count + added.count >= Self.gatheredMax { break }
      }
      // Stable, so that known entries stay before added ones with the same key.
      try write((known + added).sorted { $0.key < $1.key })
    }
  }

  /// Moves `stop` past the claims with the same key; returns lineages not yet `known` with it.
  private func add(
    _ claims: [Claim], from stop: inout Int, known: ArraySlice<Entry>,
    _ body: (Rivals) throws -> Void
  ) throws -> [UInt16] {
    let start = stop
    let key = Self.key(claims[start].identity)
    stop += 1
    if known.isEmpty, stop == claims.count || Self.key(claims[stop].identity) != key {
      return [Self.beginning(claims[start].lineage)]
    }
    while stop < claims.count, Self.key(claims[stop].identity) == key { stop += 1 }
    var all = Set(known.map(\.lineage))
    var new: [UInt16] = []
    for claim in claims[start..<stop] {
      let lineage = Self.beginning(claim.lineage)
      if all.insert(lineage).inserted { new.append(lineage) }
    }
    let rivals = claims[(known.isEmpty ? start + 1 : start)..<stop]
    try body(Rivals(claims: Array(rivals), keys: all.sorted().map(Self.lineages)))
    return new
  }

  /// Counts those of `claims`, sorted by identity, that have no entry.
  func missing(of claims: [Claim]) throws -> Int64 {
    var entries: [Entry] = []
    var (position, end) = (0, Int64.min)
    var missing: Int64 = 0
    for claim in claims {
      let key = Self.key(claim.identity)
      if key >= end {
        entries.removeAll(keepingCapacity: true)
        (position, end) = (0, try readPage(around: key, into: &entries).end)
      }
      while position < entries.count, entries[position].key < key { position += 1 }
      let lineage = Self.beginning(claim.lineage)
      let isPresent = entries[position...].prefix { $0.key == key }.contains {
        $0.lineage == lineage
      }
      if !isPresent { missing += 1 }
    }
    return missing
  }

  /// Reads the row that may contain `key`; returns its first key, if any, and that of the next row.
  private func readPage(
    around key: Int64, into entries: inout [Entry]
  ) throws -> (first: Int64?, end: Int64) {
    let first = try database.first(
      "select first, entries from identity where first <= ? order by first desc limit 1", key
    ) { row in
      try Self.decode(row.blob(1), from: row.int64(0), into: &entries)
      return row.int64(0)
    }
    let next = try database.first("select min(first) from identity where first > ?", key) {
      $0.optionalInt64(0) ?? .max
    }
    return (first, next ?? .max)
  }

  /// Writes entries in rows of about equal length; entries with the same key stay together.
  private func write(_ entries: [Entry]) throws {
    let rows = (entries.count + Self.entriesMax - 1) / Self.entriesMax
    var writer = ByteWriter()
    var start = 0
    for row in 0..<rows {
      var stop = max(start, entries.count * (row + 1) / rows)
      while stop > 0, stop < entries.count, entries[stop].key == entries[stop - 1].key {
        stop += 1
      }
      guard stop > start else { continue }
      writer.reset()
      let first = entries[start].key
      var last = first
      for entry in entries[start..<stop] {
        writer.put(unsigned: UInt64(entry.key - last))
        writer.put(byte: UInt8(truncatingIfNeeded: entry.lineage))
        writer.put(byte: UInt8(truncatingIfNeeded: entry.lineage >> 8))
        last = entry.key
      }
      try database.run(
        "insert into identity (first, entries) values (?, ?)", first, writer.bytes)
      start = stop
    }
  }

  private static func decode(
    _ bytes: UnsafeRawBufferPointer, from first: Int64, into entries: inout [Entry]
  ) throws {
    var reader = ByteReader(bytes)
    var key = first
    while !reader.isAtEnd {
      key += Int64(truncatingIfNeeded: reader.unsigned() & 0xff_ffff_ffff)
      let lineage = UInt16(reader.byte()) | UInt16(reader.byte()) << 8
      entries.append(Entry(key: key, lineage: lineage))
    }
    guard reader.isSound else { throw SubledgerError.damaged("the index of identities") }
  }

  /// Returns the first 40 bits.
  private static func key(_ identity: Int64) -> Int64 {
    Int64(UInt64(bitPattern: identity) >> 24)
  }

  /// Returns the first 16 bits.
  private static func beginning(_ lineage: Int64) -> UInt16 {
    UInt16(truncatingIfNeeded: lineage >> 48)
  }

  private static func lineages(beginning: UInt16) -> ClosedRange<Int64> {
    let first = Int64(beginning) << 48
    return first...(first | 0xffff_ffff_ffff)
  }
}

extension IdentityIndex.Claim: Comparable {
  /// Orders claims by identity, as the index is sorted, then by arrival.
  static func < (left: Self, right: Self) -> Bool {
    left.identity != right.identity
      ? UInt64(bitPattern: left.identity) < UInt64(bitPattern: right.identity)
      : left.number < right.number
  }
}
