public import Domain
internal import Formats

/// The result of inspecting a published folder.
public struct SetInspection: Sendable, Equatable {
  /// SHA-256 of `SHA256SUMS`.
  public var sha256: String
  /// Files that `SHA256SUMS` lists, sorted by bytes.
  public var paths: [String]
  /// Differences between the files and `SHA256SUMS`.
  public var problems: [String]
}

/// SHA-256 of `SHA256SUMS` of the set published in `folder`; nil without a set.
public func publishedSet(in folder: String) throws(SubledgerError) -> String? {
  guard let document = try readFile("\(folder)/\(checksumsName)"),
    try !Checksums(publishedIn: folder).hashes.isEmpty
  else { return nil }
  return sha256(of: document)
}

/// Writes `SHA256SUMS` of every file below `folder`.
public func sealFolder(_ folder: String) throws(SubledgerError) {
  var sums = Checksums(hashes: [:])
  for path in try files(below: folder) where path != checksumsName {
    sums.hashes[path] = try seal(of: "\(folder)/\(path)").sha256
  }
  try writeFile(sums.document, to: "\(folder)/\(checksumsName)")
}

/// Compares every file of the set published in `folder` with `SHA256SUMS`.
public func inspectSet(in folder: String) throws(SubledgerError) -> SetInspection {
  guard let document = try readFile("\(folder)/\(checksumsName)") else {
    return SetInspection(
      sha256: "", paths: [], problems: ["\(checksumsName) is missing, so nothing is published"])
  }
  let sums = Checksums(reading: document)
  var problems: [String] = []
  for path in sums.paths {
    do throws(SubledgerError) {
      guard try isFile("\(folder)/\(path)") else {
        problems.append("\(path) is missing")
        continue
      }
      if try seal(of: "\(folder)/\(path)").sha256 != sums.hashes[path] {
        problems.append("\(path) was changed after publication")
      }
    } catch {
      // A run has just removed it.
      guard error.kind == .cannotCreate else { throw error }
      problems.append("\(path) is missing")
    }
  }
  if sums.document != document { problems.append("\(checksumsName) was changed after publication") }
  return SetInspection(
    sha256: sha256(of: document), paths: sums.paths, problems: problems)
}

/// The changes that publishing a set would make in a folder, as paths inside it, sorted by bytes.
public struct SetChanges: Sendable, Equatable {
  /// Files that do not exist yet.
  public private(set) var added: [String] = []
  /// Files that exist with other bytes.
  public private(set) var changed: [String] = []
  /// Files of the published set that the new set does not contain.
  public private(set) var removed: [String] = []

  /// The changes to `folder` if `set` were published there.
  public init(of folder: String, by set: SealedSet) throws(SubledgerError) {
    let sums = set.sums
    for path in sums.paths {
      let place = "\(folder)/\(path)"
      guard let status = try status(of: place) else {
        added.append(path)
        continue
      }
      let hash = status.isFile ? try seal(of: place).sha256 : nil
      if hash != sums.hashes[path] { changed.append(path) }
    }
    let published = try readFile("\(folder)/\(checksumsName)")
    if published == nil {
      added.insert(checksumsName, at: 0)
    } else if published != set.checksums {
      changed.insert(checksumsName, at: 0)
    }
    let earlier = try Checksums(publishedIn: folder)
    removed = earlier.paths.filter { sums.hashes[$0] == nil }
  }
}
