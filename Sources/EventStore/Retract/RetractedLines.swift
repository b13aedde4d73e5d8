public import Domain

/// Lines of one archive that are read but do not count.
public struct RetractedLines: Sendable, Equatable {
  /// Whether these are all of its lines.
  public var isWhole = false
  /// Physical numbers of the lines, from 1, unless all are retracted.
  public var lines: Set<Int64> = []

  /// Creates an empty set of lines.
  public init() {}

  func contains(_ line: Int64) -> Bool { isWhole || lines.contains(line) }
}

/// A line of an audit entry: one archive, or one line of it, no longer counts, or counts again.
public struct Retraction: Sendable, Equatable {
  /// The number of the archive.
  public let archive: Int64
  /// SHA-256 of its bytes.
  public let sha256: String
  /// The physical line, from 1; nil for all lines.
  public let line: Int64?

  /// Creates a retraction of a line of `archive`, or of all lines.
  public init(_ archive: ArchiveRecord, line: Int64?) {
    (self.archive, sha256, self.line) = (archive.id, archive.sha256, line)
  }

  init?(_ words: [Substring]) {
    guard words.count == 4, words[0] == "lines", let archive = Int64(words[1]) else { return nil }
    (self.archive, sha256, line) = (archive, String(words[2]), Int64(words[3]))
  }

  var text: String {
    "lines \(archive) \(sha256) \(line.map { "\($0)" } ?? "all")"
  }
}

/// The months in which events of retracted lines were counted, by product of a feed, in each time
/// zone in which they were published.
public struct RetractedMonths: Sendable, Equatable {
  /// Feed, product and month of the events in a time zone.
  public struct Subject: Sendable, Hashable {
    /// The feed that contained them.
    public let feed: Feed
    /// The ledger's number of their product.
    public let product: StringID
    /// The month of the events.
    public let month: Month
    let zone: String
  }

  /// The first month of their subscriptions, which later rows also describe.
  public private(set) var first: [Subject: Month] = [:]

  mutating func add(_ subject: Subject, from month: Month) {
    first[subject] = min(first[subject] ?? month, month)
  }

  mutating func add(_ words: [Substring], in zone: String) {
    let numbers = words.dropFirst().compactMap { Int64($0) }
    guard words.first == "counted", words.last == zone[...], numbers.count == 5,
      let provider = Provider(rawValue: .init(truncatingIfNeeded: numbers[0]))
    else { return }
    let feed = Feed(provider: provider, app: StringID(truncatingIfNeeded: numbers[1]))
    add(
      Subject(
        feed: feed, product: StringID(truncatingIfNeeded: numbers[2]),
        month: Month(number: Int32(truncatingIfNeeded: numbers[3])), zone: zone),
      from: Month(number: Int32(truncatingIfNeeded: numbers[4])))
  }

  var lines: [String] {
    first.map { subject, month in
      "counted \(subject.feed.provider.rawValue) \(subject.feed.app) \(subject.product) "
        + "\(subject.month.number) \(month.number) \(subject.zone)"
    }.sorted()
  }
}

extension AuditEntry {
  /// The lines that were retracted, or count again.
  public var retractions: [Retraction] { words.compactMap(Retraction.init) }

  /// Returns the months of a time zone in which events of these lines were counted.
  public func retractedMonths(in zone: String) -> RetractedMonths {
    words.reduce(into: RetractedMonths()) { $0.add($1, in: zone) }
  }

  private var words: [[Substring]] { action == .retract || action == .readmit ? facts : [] }
}

extension Ledger {
  /// Returns the lines that are retracted now, by the number of their archive.
  public func retractedLines() throws(SubledgerError) -> [Int64: RetractedLines] {
    var retracted: [Int64: RetractedLines] = [:]
    for act in try acts() { retracted.take(act.retractions, act.action) }
    return retracted.filter { $0.value != RetractedLines() }
  }

  /// Returns the audit entries since `run` published that retracted or readmitted lines.
  public func retractions(since run: Int64) throws(SubledgerError) -> [AuditEntry] {
    try acts().filter { $0.run >= run && ($0.action == .retract || $0.action == .readmit) }
  }

  /// Returns the months in which events of these lines count; reads all events.
  public func months(
    of retractions: [Retraction], in calendars: [CivilCalendar]
  ) throws -> RetractedMonths {
    var wanted: [Int64: RetractedLines] = [:]
    wanted.take(retractions, .retract)
    var months = RetractedMonths()
    try forEachLineage { _, events in
      let retracted = events.filter {
        wanted[Int64($0.place.archive)]?.contains($0.place.line) ?? false
      }
      guard let first = events.first, !retracted.isEmpty else { return }
      for event in retracted {
        for calendar in calendars {
          months.add(
            RetractedMonths.Subject(
              feed: event.feed, product: event.product, month: calendar.month(of: event.time),
              zone: calendar.identifier),
            from: calendar.month(of: first.time))
        }
      }
    }
    return months
  }
}

extension [Int64: RetractedLines] {
  /// Applies the retractions of an audit entry, by the number of their archive.
  public mutating func take(_ retractions: [Retraction], _ action: AuditEntry.AuditAction) {
    for retraction in retractions {
      switch (action, retraction.line) {
      case (.retract, nil): self[retraction.archive, default: RetractedLines()].isWhole = true
      case (.retract, let line?):
        self[retraction.archive, default: RetractedLines()].lines.insert(line)
      case (_, nil): self[retraction.archive] = nil
      case (_, let line?): self[retraction.archive]?.lines.remove(line)
      }
    }
  }
}

extension Ledger {
  /// Returns archives with lines of a gzip member with a wrong checksum, if the intact file arrived
  /// earlier or later: with the same name, and with the same path and length or mostly the same
  /// events.
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
            whole.path = archive.path and whole.bytes = archive.bytes
            or 2 * iif(whole.id > archive.id, whole.duplicates, archive.duplicates)
              >= archive.accepted + archive.duplicates))
      order by id
      """
    ) { try ArchiveRecord($0) }
  }

  /// Returns for each feed the first time at which an event from a line of a member with a wrong
  /// checksum counts, and at which any event of its subscription does.
  ///
  /// Reads all events if there are such lines.
  public func provisionalSince(
    by rules: FoldSettings
  ) throws -> [Feed: (event: Instant, subscription: Instant)] {
    let lines = try all(
      "look for damaged archives",
      """
      select id, provisional_from from archive
      where kind = 'events' and imported_until >= provisional_from
      """
    ) { ($0.archive(0), $0.int64(1)) }
    let offsets = Dictionary(uniqueKeysWithValues: lines)
    var since: [Feed: (event: Instant, subscription: Instant)] = [:]
    guard !offsets.isEmpty else { return since }
    try forEachLineage { _, events in
      let wrong = events.filter { event in
        offsets[event.place.archive].map { event.place.byteOffset >= $0 } ?? false
      }
      guard !wrong.isEmpty, let begin = events.map({ $0.countsFrom(rules) }).min() else { return }
      for event in wrong {
        let known = since[event.feed] ?? (event.countsFrom(rules), begin)
        since[event.feed] = (
          min(known.event, event.countsFrom(rules)), min(known.subscription, begin)
        )
      }
    }
    return since
  }
}

private extension Event {
  /// The earliest time at which it can count.
  ///
  /// A state reports a charge made before it: as sent, else when it was bought, else at its end or
  /// one period before.
  func countsFrom(_ rules: FoldSettings) -> Instant {
    guard let observation else { return time }
    let length = rules.periodLength(of: self)
    let charged =
      observation.lastChargedAt ?? observation.firstPurchasedAt
      ?? periodEnd.flatMap { length?.start(before: $0) }
    return [periodStart, charged, periodEnd].compactMap(\.self).reduce(time, min)
  }
}
