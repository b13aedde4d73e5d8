import Domain
import Formats
import EventStore

extension RunPipeline {
  /// Compares the SHA-256 of every archive that still exists with that in the ledger.
  ///
  /// An archive is searched under the path where it was found, and under its name in the plan's
  /// archives and snapshots. Missing archives are listed, because they may be kept elsewhere.
  func proveArchives(
    _ path: String, isStrict: Bool, isWhole: Bool
  ) throws -> CheckResult {
    var check = CheckResult("archives", unit: "files")
    let listed = try read(path, isWhole: isWhole) { try $0.archives() }
    guard let listed else { return check.skipped("the ledger cannot be read") }
    var missing: [String] = []
    for (archive, location) in zip(listed, try locate(listed, among: listed, acceptsGrown: true)) {
      check.count += 1
      if let problem = location.problem {
        check.fail("\(archive.name): \(problem)")
      } else if location.path == nil {
        missing.append(archive.name)
      }
    }
    if !missing.isEmpty {
      let names = missing.prefix(20).joined(separator: ", ") + (missing.count > 20 ? ", …" : "")
      let note = "\(missing.count) missing: \(names)"
      if isStrict { check.fail(note) } else { check.notes.append(note) }
    }
    return check
  }

  /// Finds the bytes of archives, searching several files at once.
  ///
  /// - Parameters:
  ///   - all: all archives of the ledger; the same bytes may have arrived under other names, of
  ///     which one may still exist.
  ///   - acceptsGrown: whether a file that has grown since is accepted, even when its current
  ///     content is unknown to the ledger.
  func locate(
    _ archives: [ArchiveRecord], among all: [ArchiveRecord], acceptsGrown: Bool
  ) throws -> [ArchiveLocation] {
    let (roots, sources) = (plan.archives + plan.snapshots, plan.sources)
    let given = try roots.isEmpty ? [] : ArchiveFolder.files(under: roots, by: sources).files
    let named = Dictionary(grouping: given, by: \.name)
    let copies = Dictionary(grouping: all, by: \.sha256)
    let events = all.filter { $0.kind == .events }
    let streams = Dictionary(grouping: events, by: \.stream)
    let read = Dictionary(events.filter(\.isRead).map { ($0.sha256, $0) }) { first, _ in first }
    // A file that has grown, or was completed later, still contains the bytes, and a file with the
    // bytes of another archive is not damage, either.
    @Sendable func location(of archive: ArchiveRecord) -> ArchiveLocation {
      var location = ArchiveLocation()
      for path in [archive.path] + (named[archive.name] ?? []).map(\.path) {
        do throws(SubledgerError) {
          guard let file = try ArchiveFolder.file(at: path, by: sources) else { continue }
          let sum = try sha256(of: file)
          if sum == archive.sha256 { return ArchiveLocation(path: path) }
          let isKnown = copies[sum] != nil
          if acceptsGrown || isKnown, try archive.begins(file) {
            return ArchiveLocation(path: path)
          }
          if !isKnown { location.problem = "\(path) differs from the bytes that were read" }
        } catch {
          location.problem = error.message
        }
      }
      func find(
        in others: [ArchiveRecord]?, _ isSuch: (ArchiveFile) throws -> Bool
      ) -> String? {
        others?.map(\.path).first { path in
          let file = try? ArchiveFolder.file(at: path, by: sources)
          return (try? file.map(isSuch)) ?? false
        }
      }
      location.path = find(in: copies[archive.sha256]?.filter { $0.path != archive.path }) {
        try sha256(of: $0) == archive.sha256
      }
      guard location.path == nil, let whole = read[archive.sha256] else { return location }
      let containing = find(in: streams[archive.stream]) {
        try contentHashes(of: $0, first: [whole.contentBytes])[whole.contentBytes]
          == whole.contentHash
      }
      return containing.map { ArchiveLocation(path: $0, isInLonger: true) } ?? location
    }
    var locations: [ArchiveLocation] = []
    try Workers(count: plan.jobs).run(archives, { try $1(location(of: $0)) }) {
      try checkStop()
      locations.append($1)
    }
    return locations
  }
}

struct ArchiveLocation: Sendable {
  /// Path of the bytes; nil when they were not found.
  var path: String?
  /// Why the file at the archive's path does not contain them.
  var problem: String?
  /// Whether the bytes are the beginning of another archive's content.
  var isInLonger = false
}

private extension ArchiveRecord {
  /// Whether `file` begins with the bytes that were read, and continues.
  func begins(_ file: ArchiveFile) throws(SubledgerError) -> Bool {
    guard file.bytes > bytes else { return false }
    return try Formats.sha256(of: file.first(bytes, as: name)) == sha256
  }
}
