// Moves finished files to the published folder: the whole set or nothing.
public import Domain
internal import CRename
internal import Formats
internal import Glibc

/// The result of publishing a set.
public struct Publication: Sendable, Equatable {
  /// How the set was published.
  public enum Route: Sendable, Equatable {
    /// The published set already had the same bytes; nothing was written.
    case unchanged
    /// The folder was exchanged or renamed in one system call.
    case atOnce
    /// The files were renamed one by one, `SHA256SUMS` last.
    case oneByOne
  }

  /// How the set was published.
  public let route: Route
  /// Files whose bytes changed, as paths inside the set.
  public let changed: [String]
}

/// Processes some paths, and throws the first error.
public typealias ForEachPath = (
  _ paths: [String], _ work: @escaping @Sendable (String) throws(SubledgerError) -> Void
) throws(SubledgerError) -> Void

/// Processes one path after the other.
public func oneAfterTheOther(
  _ paths: [String], _ work: @escaping @Sendable (String) throws(SubledgerError) -> Void
) throws(SubledgerError) {
  for path in paths { try work(path) }
}

/// A complete staged set with its manifest; its checksums are written when it is published.
public struct SealedSet {
  let staging: Staging
  let sums: Checksums
  /// `SHA256SUMS`.
  public var checksums: [UInt8] { sums.document }
}

/// Publishes a set.
///
/// Files of the previous set that are no longer produced are removed; other files in the folder
/// stay. Unchanged files keep their inode. The staging folder is removed, except for `leftovers`,
/// which do not prevent the publication. `others` are also synced, if they exist, before the set
/// becomes visible. `each` processes all of some paths, in any order or in parallel.
public func publish(
  _ set: SealedSet, syncing others: [String] = [], each: ForEachPath = oneAfterTheOther
) throws(SubledgerError) -> Publication {
  let (staging, sums) = (set.staging, set.sums)
  let earlier = try Checksums(publishedIn: staging.out)
  let (changed, carried) = try carryOverUnchanged(sums, from: staging)
  let vanished = earlier.paths.filter { sums.hashes[$0] == nil }
  let ours = Set(earlier.paths + sums.paths + [checksumsName])
  var route = Publication.Route.unchanged
  let isListed = try readFile("\(staging.out)/\(checksumsName)") == sums.document
  if !changed.isEmpty || !vanished.isEmpty || !isListed {
    try syncAll(sums, in: staging.path, but: carried, and: others, each)
    let isAtOnce = try exchange(staging, earlier: earlier, besides: ours)
    if !isAtOnce { try moveOneByOne(sums, vanished: vanished, from: staging) }
    route = isAtOnce ? .atOnce : .oneByOne
  }
  staging.clear(of: ours, each)
  return Publication(route: route, changed: changed)
}

extension Staging {
  /// Writes the manifest, last of all files of `reports`, and returns the set with its checksums.
  public func sealed(
    by manifest: Manifest, of reports: WrittenReports? = nil
  ) throws(SubledgerError) -> SealedSet {
    var seals = reports?.seals ?? [:]
    for file in try files(below: path)
    where file != manifestName && file != checksumsName && seals[file] == nil {
      seals[file] = try seal(of: "\(path)/\(file)")
    }
    let document = manifest.document(seals: seals)
    try writeFile(document, to: "\(path)/\(manifestName)")
    var sums = Checksums(hashes: seals.mapValues(\.sha256))
    sums.hashes[manifestName] = sha256(of: document)
    return SealedSet(staging: self, sums: sums)
  }
}

/// Replaces each unchanged staged file by the published file with the same bytes.
///
/// Returns the paths of the changed files, and of files that have a second name in the staging
/// folder.
private func carryOverUnchanged(
  _ sums: Checksums, from staging: Staging
) throws(SubledgerError) -> (changed: [String], carried: Set<String>) {
  var changed: [String] = []
  var carried: Set<String> = []
  for path in sums.paths {
    let old = "\(staging.out)/\(path)"
    let new = "\(staging.path)/\(path)"
    // Renaming one name of a file to another name of it would leave both.
    let (there, staged) = (try status(of: old), try status(of: new))
    if let there, let staged, there.isSame(as: staged) {
      carried.insert(path)
      continue
    }
    guard let there, there.isFile, there.st_size == staged?.st_size,
      try seal(of: old).sha256 == sums.hashes[path]
    else {
      changed.append(path)
      continue
    }
    // Where links are refused, the staged copy is used.
    let linked = "\(staging.path)/\(carriedName)"
    guard link(old, linked) == 0 else { continue }
    guard rename(linked, new) == 0 else { throw .system("rename", linked) }
    // The link remains if both names were already links to one file.
    unlink(linked)
    carried.insert(path)
  }
  return (changed, carried)
}

/// The second name of a published file in the staging folder, until it takes the file's own.
let carriedName = ".carried"

/// Waits until the files and their folders are on the disk, except the `carried` files of the
/// previous set: syncing a file costs as much as writing a report.
///
/// Then writes the checksums: after a power cut, the files in a folder that has them are as listed.
private func syncAll(
  _ sums: Checksums, in folder: String, but carried: Set<String>, and others: [String],
  _ each: ForEachPath
) throws(SubledgerError) {
  let places = sums.paths.map { "\(folder)/\($0)" }
  let new = sums.paths.filter { !carried.contains($0) }.map { "\(folder)/\($0)" }
  var waiting: [String] = []
  for path in others where try status(of: path) != nil { waiting.append(path) }
  try each(waiting + new) { path throws(SubledgerError) in try sync(path) }
  let checksums = "\(folder)/\(checksumsName)"
  try writeFile(sums.document, to: checksums)
  try sync(checksums)
  let folders = Set(places.map(parent(of:))).union([folder])
  try each(folders.sorted()) { path throws(SubledgerError) in try sync(path) }
}

/// Renames the staged folder to the published name in one system call; returns false if it cannot.
///
/// A non-empty folder that was never published to may be anything, even a home folder. It is kept,
/// and files are renamed into it one by one.
private func exchange(
  _ staging: Staging, earlier: Checksums, besides ours: Set<String>
) throws(SubledgerError) -> Bool {
  if parent(of: staging.path) == staging.out { return false }
  guard try status(of: staging.out) != nil else {
    guard rename(staging.path, staging.out) == 0 else {
      throw .system("name the folder", staging.out, .cannotCreate)
    }
    try sync(parent(of: staging.out))
    return true
  }
  let out = try OpenFolder(staging.out)
  if let rights = try out.status(of: RawPath(""))?.st_mode { try staging.folder.setRights(rights) }
  if earlier.hashes.isEmpty {
    // Only an empty folder can be replaced this way.
    guard rename(staging.path, staging.out) == 0 else { return false }
  } else {
    var names = HardLinks(old: out, new: staging.folder)
    guard try names.link(FolderEntries(in: out, besides: ours)),
      exchange_paths(staging.path, staging.out) == 0
    else { return false }
    staging.isExchanged = true
  }
  try sync(parent(of: staging.out))
  return true
}
