import Domain
import Formats
import EventStore

extension RunPipeline {
  /// Compares the SHA-256 of every archive that still exists with the ledger's.
  ///
  /// An archive is looked for where it was found, and under its name in the plan's archives and
  /// snapshots. One that is missing is named, because archives may be kept elsewhere.
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
      let note = "\(missing.count) not there any more: \(names)"
      if isStrict { check.fail(.damaged, note) } else { check.notes.append(note) }
    }
    return check
  }

  /// Looks for the bytes of archives, at several files at once.
  ///
  /// - Parameters:
  ///   - all: all archives of the ledger; the same bytes may have come under other names, and one
  ///     of these may be left.
  ///   - acceptsGrown: whether a file that has grown since counts, also when the ledger does not
  ///     know it as it is now.
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
  /// Nil when they were not found.
  var path: String?
  /// Why the file at the archive's place does not have them.
  var problem: String?
  /// Whether the content of another archive begins with theirs.
  var isInLonger = false
}

private struct ArchiveSearch: Sendable {
  let archive: ArchiveRecord
  let paths: [String]
  /// Where the same bytes came under other names.
  let copies: [String]
  /// Where the archives of its log were found.
  let longer: [String]
  /// The one of these bytes that was read.
  let read: ArchiveRecord?
  let known: Set<String>
  let acceptsGrown: Bool
  let sources: ArchiveSources

  /// A file that has grown, or was completed later, contains the bytes that were read; those of
  /// another archive at its place are no damage either.
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

  /// Whether `file` holds what was read, and more behind it.
  private func begins(_ file: ArchiveFile) throws(SubledgerError) -> Bool {
    guard file.bytes > archive.bytes else { return false }
    return try sha256(of: file.first(archive.bytes, as: archive.name)) == archive.sha256
  }
}
