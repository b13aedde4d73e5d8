// The folder whose place the new set has taken: what somebody put there meanwhile goes to the
// published one before it is removed.
internal import Domain
internal import Formats
internal import Glibc

/// A folder that was the published one, or was to be.
struct FormerFolder {
  let path: String
  let out: String
  /// Files that may be removed with it, as paths inside it.
  let ours: Set<String>
  /// Whether a run that died has left it, perhaps before it was ever published.
  let isLeft: Bool

  /// Removes the folder when nothing comes any more; else the next run goes on with it.
  func remove(_ each: ForEachPath = oneAfterTheOther) throws(SubledgerError) {
    let passesMax = 10
    for _ in 0..<passesMax where try removeSeen(each) { return }
  }

  /// Removes what a look at the folder has shown; false when something came after that.
  ///
  /// The checksums go last: the next run finds our files in them.
  private func removeSeen(_ each: ForEachPath) throws(SubledgerError) -> Bool {
    let folder = RawPath(path)
    guard try status(of: folder) != nil else { return true }
    let entries = try ForeignEntries(in: folder, besides: ours)
    var second = SecondNames(from: path, to: out, isLastNameOnly: isLeft)
    for (name, seen) in try second.rescue(entries) {
      let place = folder.appending(name)
      if let now = try status(of: place), now.isSame(as: seen) { try removeFile(place) }
    }
    let places = ours.filter { $0 != checksumsName }.sorted().map { "\(path)/\($0)" }
    var standing: [String] = []
    for place in places where try entryType(place) != nil { standing.append(place) }
    try each(standing) { place throws(SubledgerError) in try removeAll(RawPath(place)) }
    try removeEmptyFolders(in: folder)
    guard try names(in: folder).allSatisfy({ $0 == RawPath(checksumsName) }) else {
      return false
    }
    try removeFile("\(path)/\(checksumsName)")
    return rmdir(path) == 0 || errno == ENOENT
  }

  private func removeEmptyFolders(in folder: RawPath) throws(SubledgerError) {
    for name in try names(in: folder) {
      let place = folder.appending(name)
      guard try status(of: place)?.isFolder ?? false else { continue }
      try removeEmptyFolders(in: place)
      // A new file may be in it; the next pass finds that.
      rmdir(place.terminated)
    }
  }
}
