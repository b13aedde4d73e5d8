// Finished files → the place where people read them, the whole set or nothing.
internal import CRename
internal import Digest
internal import Glibc

/// What publishing a set came to.
public struct Publication: Sendable, Equatable {
  /// How the set came to its place.
  public enum Route: Sendable, Equatable {
    /// The published set had the same bytes already; nothing was touched.
    case unchanged
    /// The folder was exchanged, or named, in one system call.
    case atOnce
    /// The files were renamed one by one, `SHA256SUMS` last.
    case oneByOne
  }

  /// SHA-256 of `SHA256SUMS`, which stands for the whole set.
  public let sha256: String
  /// `SHA256SUMS` itself.
  public let checksums: [UInt8]
  /// How the set came to its place.
  public let route: Route
  /// Files whose bytes are new, as paths inside the set.
  public let changed: [String]
}

/// Publishes the files in `staging` with their manifest and checksums.
///
/// Files of the earlier set that are no longer made vanish; files in the folder that were never
/// published stay. Unchanged files keep their inode. The staging folder is gone afterwards.
public func publish(
  _ staging: Staging, manifest: Manifest
) throws(PublishError) -> Publication {
  let sums = try sealed(staging.path, manifest)
  let earlier = try Checksums(publishedIn: staging.out)
  let document = sums.document
  let identity = sha256(of: document)
  let changed = try carryOverUnchanged(sums, from: staging)
  let vanished = earlier.paths.filter { sums.hashes[$0] == nil }
  if changed.isEmpty, vanished.isEmpty {
    try staging.discard()
    return Publication(
      sha256: identity, checksums: document, route: .unchanged, changed: [])
  }
  try syncAll(sums.paths + [checksumsName], in: staging.path)
  let isAtOnce = try exchange(staging, earlier: earlier)
  if !isAtOnce { try moveOneByOne(sums, vanished: vanished, from: staging) }
  try removeAll(staging.path)
  return Publication(
    sha256: identity, checksums: document, route: isAtOnce ? .atOnce : .oneByOne,
    changed: changed.filter { $0 != checksumsName })
}

/// Writes the manifest and the checksums of all files, in this order, last of all.
private func sealed(
  _ folder: String, _ manifest: Manifest
) throws(PublishError) -> Checksums {
  var seals: [String: FileSeal] = [:]
  for path in try files(below: folder) where path != manifestName && path != checksumsName {
    seals[path] = try seal(of: "\(folder)/\(path)")
  }
  let document = manifest.document(seals: seals)
  try writeFile(document, to: "\(folder)/\(manifestName)")
  var sums = Checksums(hashes: seals.mapValues(\.sha256))
  sums.hashes[manifestName] = sha256(of: document)
  try writeFile(sums.document, to: "\(folder)/\(checksumsName)")
  return sums
}

/// Puts the published file itself in the place of a staged one with the same bytes.
///
/// Returns the paths of the files with other bytes, the checksums' included.
private func carryOverUnchanged(
  _ sums: Checksums, from staging: Staging
) throws(PublishError) -> [String] {
  var changed: [String] = []
  for path in sums.paths + [checksumsName] {
    let old = "\(staging.out)/\(path)"
    let new = "\(staging.path)/\(path)"
    guard try haveSameBytes(old, new) else {
      changed.append(path)
      continue
    }
    // Where links are refused, the staged copy serves as well.
    let linked = "\(staging.path)/.carried"
    if link(old, linked) == 0, rename(linked, new) != 0 { throw .system("rename", linked) }
  }
  return changed
}

private func haveSameBytes(_ old: String, _ new: String) throws(PublishError) -> Bool {
  guard try entryType(old) == .file, fileSize(old) == fileSize(new) else { return false }
  return try seal(of: old) == seal(of: new)
}

private func syncAll(_ paths: [String], in folder: String) throws(PublishError) {
  var folders: Set<String> = [folder]
  for path in paths {
    try sync("\(folder)/\(path)")
    folders.insert(parent(of: "\(folder)/\(path)"))
  }
  for folder in folders { try sync(folder) }
}

/// Gives the staged folder the published name in one system call; false where that cannot be.
private func exchange(
  _ staging: Staging, earlier: Checksums
) throws(PublishError) -> Bool {
  if parent(of: staging.path) == staging.out { return false }
  guard try entryType(staging.out) != nil else {
    guard rename(staging.path, staging.out) == 0 else {
      throw .system("name the folder", staging.out, .cannotCreate)
    }
    try sync(parent(of: staging.out))
    return true
  }
  guard try linkForeignFiles(into: staging, earlier: earlier) else { return false }
  var status = stat()
  if stat(staging.out, &status) == 0 { chmod(staging.path, status.st_mode & 0o7777) }
  guard exchange_paths(staging.path, staging.out) == 0 else { return false }
  try sync(parent(of: staging.out))
  return true
}
