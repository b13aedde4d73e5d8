import Domain
import EventStore
import Formats
import Foundation
import Logging

extension RunPipeline {
  /// Retracts an archive or one of its lines, or readmits it; returns a summary.
  ///
  /// - Parameter target: the archive's name as in `inputs.csv` or the beginning of its SHA-256, and
  ///   for one line a colon and its number.
  public func retract(_ target: String, readmit: Bool, _ note: AuditNote) throws -> String {
    let action = readmit ? AuditEntry.AuditAction.readmit : .retract
    try note.requireReason(
      of: readmit ? "--readmit" : "retract", hint: "the act and restatements refer to it")
    return try onEvents(to: "retract lines") { ledger in
      let (archives, line) = try self.archives(target, in: ledger)
      // Retracted ones, too: a repeated command must not take the next archive of that name.
      if !readmit { try requireOneLog(target, archives) }
      let retracted = try ledger.retractedLines()
      let found =
        if let line, !readmit {
          try [holder(of: line, in: archives, retracted, ledger)].compactMap(\.self)
        } else {
          archives.filter { archive in
            let known = retracted[archive.id] ?? RetractedLines()
            guard readmit else { return !known.isWhole }
            return line.map(known.lines.contains) ?? (known != RetractedLines())
          }
        }
      try requireOneLog(target, found)
      let retractions = found.map { Retraction($0, line: line) }
      guard !retractions.isEmpty else {
        throw SubledgerError(
          .usage,
          readmit
            ? "\(target.shown()) is not retracted" : "\(target.shown()) is retracted already",
          hint: "`subledger status` lists what was done")
      }
      try remake(ledger, retractions, AuditEntry(action, note))
      return dryRunNotice + (try answer(readmit, target, in: ledger))
    }
  }

  private func answer(_ readmit: Bool, _ target: String, in ledger: Ledger) throws -> String {
    let zone = try ledger.lastPublished()?.zone ?? plan.rules.calendar.identifier
    let months = try ledger.acts().last?.retractedMonths(in: zone).first.keys.map(\.month) ?? []
    let ends = Set([months.min(), months.max()].compactMap(\.self)).sorted().map(\.text)
    let counted = ends.isEmpty ? "no event" : "events of \(ends.joined(separator: " to "))"
    return """
      \(target.shown()) \(readmit ? "counts again" : "is retracted"): it has \(counted)
      the next `subledger run` or `subledger report` publishes the numbers
      """
  }

  /// Returns the archives that `target` names, and the line.
  private func archives(
    _ target: String, in ledger: Ledger
  ) throws -> (archives: [ArchiveRecord], line: Int64?) {
    let all = try ledger.archives()
    if let found = readings(of: target, in: all) {
      try requireWholeLogs(target, found, in: all)
      return (found, nil)
    }
    let parts = target.split(separator: ":", omittingEmptySubsequences: false)
    if parts.count > 1, let line = Int64(parts[parts.count - 1]), line > 0,
      let found = readings(of: parts.dropLast().joined(separator: ":"), in: all)
    {
      return (self.parts(of: found, in: all), line)
    }
    throw SubledgerError(
      .usage, "no archive of the ledger \(plan.ledger) is named \(target.shown())",
      hint: "give its name or SHA-256 as in inputs.csv, followed by :LINE for one line")
  }

  /// Refuses a name that files in several folders, or on several days, have had.
  private func requireOneLog(_ target: String, _ found: [ArchiveRecord]) throws {
    guard Set(found.map(\.stream)).count > 1 else { return }
    let digests = Set(found.map { String($0.sha256.prefix(12)) }).sorted()
    throw SubledgerError(
      .usage, "\(target.shown()) names several archives: \(digests.joined(separator: ", "))",
      hint: "give the SHA-256 of one, as in inputs.csv, or its first digits, and :LINE for a line")
  }

  /// Refuses an archive that is part of a log: it is not clear whether to retract the lines that
  /// another part also contains.
  private func requireWholeLogs(
    _ target: String, _ found: [ArchiveRecord], in all: [ArchiveRecord]
  ) throws {
    let parts = parts(of: found, in: all)
    guard parts.contains(where: { !found.contains($0) }) else { return }
    // In the form of inputs.csv.
    let names = parts.reduce(into: [String]()) { names, part in
      if !names.contains(part.name) { names.append(part.name) }
    }.joined(separator: "; ")
    throw SubledgerError(
      .usage, "\(target.shown()) is a part of a log, which was also read as \(names), too",
      hint: "name the whole log, as \"\(names)\", or one line of it with :LINE")
  }

  /// Returns the archives with this name or SHA-256, or with the names of a log, each content once;
  /// nil if there are none.
  ///
  /// Snapshots with the name of an archive of events need their SHA-256.
  private func readings(of name: String, in all: [ArchiveRecord]) -> [ArchiveRecord]? {
    let isDigest = name.count >= 8 && name.allSatisfy(\.isHexDigit)
    let known = Set(all.map(\.name))
    var names: Set = [name]
    if !known.contains(name) { names = Set(name.components(separatedBy: "; ")) }
    guard isDigest || names.isSubset(of: known) else { return nil }
    let named = all.filter { names.contains($0.name) }
    let events = named.filter { $0.kind == .events }
    let digested = all.filter { isDigest && $0.sha256.hasPrefix(name) }
    let contents = Set(((events.isEmpty ? named : events) + digested).map(\.sha256))
    let found = all.filter { $0.isRead && contents.contains($0.sha256) }
    return found.isEmpty ? nil : found
  }

  /// Returns all archives of the logs of `found` that were read.
  private func parts(of found: [ArchiveRecord], in all: [ArchiveRecord]) -> [ArchiveRecord] {
    let streams = Set(found.map(\.stream))
    return all.filter { $0.isRead && streams.contains($0.stream) }
  }

  /// Returns the first part of a log that contains `line` and counts; nil if none counts.
  private func holder(
    of line: Int64, in parts: [ArchiveRecord], _ retracted: [Int64: RetractedLines],
    _ ledger: Ledger
  ) throws -> ArchiveRecord? {
    let counting = parts.filter { retracted[$0.id]?.isWhole != true }
    let isKnown = counting.contains { retracted[$0.id]?.lines.contains(line) == true }
    guard let last = counting.last, !isKnown else { return nil }
    if let holder = try counting.first(where: { try hasLine(line, $0, in: ledger) }) {
      return holder
    }
    throw SubledgerError(
      .usage, "line \(line) of \(last.name) holds no value",
      hint: "lines are counted from 1, as in rejects.csv and `subledger explain`")
  }

  /// Whether a line of an archive contains a value.
  private func hasLine(_ line: Int64, _ archive: ArchiveRecord, in ledger: Ledger) throws -> Bool {
    let place = try locate([archive], among: try ledger.archives(), acceptsGrown: false).first
    guard let place, place.path != nil else { throw missing([archive.name]) }
    let bytes = try BytesOfArchive(archive, at: place, by: plan.sources)
    guard let file = try ArchiveFolder.file(at: bytes.path, by: plan.sources) else {
      throw missing([archive.name])
    }
    var isPresent = false
    _ = try readArchive(
      file.first(bytes.count, as: archive.name), valueBytesMax: plan.valueBytesMax
    ) { chunk in
      for case (.lines(let bytes, _, _), true) in chunk.pieces(apart: [line]) {
        isPresent = isPresent || bytes.contains { $0 > UInt8(ascii: " ") }
      }
      for case (.oversizedValue, true) in chunk.pieces(apart: [line]) { isPresent = true }
    }
    return isPresent
  }

  /// Retracts the lines of damaged archives whose intact files have arrived.
  func retractDamage(in ledger: Ledger, _ summary: inout IntakeSummary) throws {
    let damaged = try ledger.replacedDamage()
    guard !damaged.isEmpty else { return }
    let names = damaged.map(\.name).joined(separator: ", ")
    var act = AuditEntry(.retract)
    (act.reason, act.who) = ("a checksum was wrong, and the whole file has arrived", "subledger")
    do {
      try changingEvents(of: ledger) {
        try remake($0, damaged.map { Retraction($0, line: nil) }, act)
      }
      log.warning(
        "what was read of \(names) while it was damaged is retracted: the whole file has arrived",
        metadata: ["code": "damage_withdrawn"])
    } catch let error as SubledgerError where error.kind == .noInput {
      summary.unreadable.append(error)
      log.error(
        """
        what was read of \(names) while it was damaged still counts: \(error.message); \(error.hint)
        """, metadata: ["code": "damage_counts"])
    }
  }

  /// Rebuilds from the archives everything that lines contribute, and records the audit entry, in
  /// one transaction.
  func remake(_ ledger: Ledger, _ retractions: [Retraction], _ act: AuditEntry) throws {
    var retracted = try ledger.retractedLines()
    retracted.take(retractions, act.action)
    let files = try ledger.archives()
    // Bytes without a value need not be found again: their intact file has another digest.
    let archives = files.filter {
      $0.isRead && $0.counts.lines > 0 && retracted[$0.id]?.isWhole != true
    }
    let locations = try locate(archives, among: files, acceptsGrown: false)
    let lost = zip(archives, locations).filter { $1.path == nil }.map(\.0.name)
    guard lost.isEmpty else { throw missing(lost) }
    if let unlisted = try refusals(of: archives, in: ledger).unlisted {
      throw SubledgerError(
        .usage, "cannot retract lines: \(unlisted), and they would count when read again",
        hint: "build a new ledger without the lines to retract")
    }
    let calendars = try ledger.publishedZones().compactMap(CivilCalendar.init(named:))
    let folder = try PrivateFolder()
    let replay = try LedgerReplay(
      try ledger.copied(to: folder.path("ledger.sqlite"), stop: stop))
    try self.replay(
      Array(zip(archives, locations)), from: ledger, into: replay.ledger, retracted)
    let months = try (act.action == .retract ? ledger : replay.ledger)
      .months(of: retractions, in: calendars.isEmpty ? [plan.rules.calendar] : calendars)
    try replay.finish(retractions, months, retracted: retracted, as: act)
    try ledger.replace(by: replay.ledger, stop: stop)
  }

  private func missing(_ archives: [String]) -> SubledgerError {
    let names = archives.prefix(20).joined(separator: ", ") + (archives.count > 20 ? ", …" : "")
    return SubledgerError(
      .noInput,
      "cannot retract lines: all other archives are read again for their versions of the same "
        + "events, and \(counted(archives.count, "archive")) missing: \(names)",
      hint: "restore them, or give their folders with --archives and --snapshots")
  }
}

/// Where the bytes of an archive can be read: in a temporary file, if they are only the beginning
/// of another archive.
struct BytesOfArchive: ~Copyable {
  let path: String
  let count: Int64
  private let folder: PrivateFolder?

  init(
    _ archive: ArchiveRecord, at location: ArchiveLocation, by sources: ArchiveSources
  ) throws {
    guard location.isInLonger, let longer = location.path,
      let file = try ArchiveFolder.file(at: longer, by: sources)
    else {
      (path, count) = (location.path ?? "", archive.bytes)
      folder = nil
      return
    }
    let folder = try PrivateFolder()
    let path = folder.path("part")
    guard FileManager.default.createFile(atPath: path, contents: nil),
      let part = FileHandle(forWritingAtPath: path)
    else { throw SubledgerError(.inputOutput, "cannot write \(path)") }
    try inflate(file, first: archive.contentBytes) { try part.write(contentsOf: Data($0)) }
    try part.close()
    self.path = path
    count = archive.contentBytes
    self.folder = consume folder
  }
}
