public import Domain

/// The changes that publishing a set would make in a folder, as paths inside the set, sorted by
/// bytes.
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
    let earlier = try Checksums(publishedIn: folder, reports: reportPaths)
    removed = earlier.paths.filter { sums.hashes[$0] == nil }
  }
}
