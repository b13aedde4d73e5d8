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

/// Returns what publishing `set` would change in `folder`, one line per file, for a person.
public func plannedChanges(
  of folder: String, by set: SealedSet
) throws(SubledgerError) -> [String] {
  var sums = set.sums
  sums.hashes[checksumsName] = sha256(of: set.checksums)
  var (added, changed): ([String], [String]) = ([], [])
  for path in sums.paths {
    let place = "\(folder)/\(path)"
    guard let status = try status(of: place) else {
      added.append(path)
      continue
    }
    let hash = status.isFile ? try seal(of: place).sha256 : nil
    if hash != sums.hashes[path] { changed.append(path) }
  }
  let removed = try Checksums(publishedIn: folder).paths.filter { sums.hashes[$0] == nil }
  let lines =
    added.map { "would add \(folder)/\($0)" } + changed.map { "would change \(folder)/\($0)" }
    + removed.map { "would remove \(folder)/\($0)" }
  return lines.isEmpty ? ["would change nothing in \(folder)"] : lines
}
