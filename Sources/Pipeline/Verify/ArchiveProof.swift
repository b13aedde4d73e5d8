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
  ) throws -> Verification.Check {
    var check = Verification.Check(name: "archives", unit: "files")
    let listed = try read(path, isWhole: isWhole) { ledger throws(SubledgerError) in
      try ledger.archives()
    }
    guard let listed else { return check.skipped("the ledger cannot be read") }
    var missing: [String] = []
    for (archive, location) in zip(listed, try locate(listed, among: listed, acceptsGrown: true)) {
      check.count += 1
      if let problem = location.problem {
        check.fail(.damaged, "\(archive.name): \(problem)")
      } else if location.path == nil {
        missing.append(archive.name)
      }
    }
    if !missing.isEmpty {
      let names = missing.prefix(20).joined(separator: ", ") + (missing.count > 20 ? ", …" : "")
      let note = "\(missing.count) missing: \(names)"
      if isStrict { check.fail(.damaged, note) } else { check.notes.append(note) }
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
    let roots = plan.archives + plan.snapshots
    let given = try roots.isEmpty ? [] : ArchiveFolder.files(under: roots, by: plan.sources).files
    let named = Dictionary(given.map { ($0.name, $0.path) }) { first, _ in first }
    let copies = Dictionary(grouping: all, by: \.sha256)
    let events = all.filter { $0.kind == .events }
    let streams = Dictionary(grouping: events, by: \.stream)
    let read = Dictionary(events.filter(\.isRead).map { ($0.sha256, $0) }) { first, _ in first }
    let known = Set(all.map(\.sha256))
    let searches = archives.map { archive in
      ArchiveSearch(
        archive: archive, paths: [archive.path] + (named[archive.name].map { [$0] } ?? []),
        copies: copies[archive.sha256, default: []].map(\.path).filter { $0 != archive.path },
        longer: streams[archive.stream, default: []].map(\.path), read: read[archive.sha256],
        known: known, acceptsGrown: acceptsGrown, sources: plan.sources)
    }
    var locations: [ArchiveLocation] = []
    try Workers(count: plan.jobs).run(searches, { search, give in try give(search.run()) }) {
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

private struct ArchiveSearch: Sendable {
  let archive: ArchiveRecord
  let paths: [String]
  /// Paths of copies under other names.
  let copies: [String]
  /// Paths of the archives of its log.
  let longer: [String]
  /// The archive with the same bytes that was read.
  let read: ArchiveRecord?
  let known: Set<String>
  let acceptsGrown: Bool
  let sources: ArchiveSources

  /// Returns the location of the bytes; a file that has grown, or was completed later, still
  /// contains them, and a file with the bytes of another archive is not damage, either.
  func run() -> ArchiveLocation {
    var location = ArchiveLocation()
    for path in paths {
      do throws(SubledgerError) {
        guard let file = try ArchiveFolder.file(at: path, by: sources) else { continue }
        let sum = try sha256(of: file)
        if sum == archive.sha256 { return ArchiveLocation(path: path) }
        if acceptsGrown || known.contains(sum), try begins(file) {
          return ArchiveLocation(path: path)
        }
        if !known.contains(sum) {
          location.problem = "\(path) differs from the bytes that were read"
        }
      } catch {
        location.problem = error.message
      }
    }
    location.path = copies.first { path in
      guard let file = try? ArchiveFolder.file(at: path, by: sources) else { return false }
      return (try? sha256(of: file)) == archive.sha256
    }
    guard location.path == nil else { return location }
    let containing = longer.first { path in
      guard let read, let file = try? ArchiveFolder.file(at: path, by: sources) else {
        return false
      }
      let count = read.contentBytes
      return (try? contentHashes(of: file, first: [count])[count]) == read.contentHash
    }
    return containing.map { ArchiveLocation(path: $0, isInLonger: true) } ?? location
  }

  /// Whether `file` begins with the bytes that were read, and continues.
  private func begins(_ file: ArchiveFile) throws(SubledgerError) -> Bool {
    guard file.bytes > archive.bytes else { return false }
    return try sha256(of: file.first(archive.bytes, as: archive.name)) == archive.sha256
  }
}
