// The folder whose place the new set has taken: what somebody put there meanwhile goes to the
// published one before it is removed.
internal import Domain
internal import Formats
internal import Glibc

/// A folder that was the published one, or was to be.
struct FormerFolder {
  let folder: OpenFolder
  let out: OpenFolder
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
    let entries = try FolderEntries(in: folder, besides: ours)
    var second = SecondNames(old: folder, new: out, isLastNameOnly: isLeft)
    for (name, seen) in try second.rescue(entries) {
      if let now = try folder.status(of: name), now.isSame(as: seen) {
        try folder.removeFile(name)
      }
    }
    var standing: [String] = []
    for path in ours.sorted() where path != checksumsName {
      if try folder.status(of: RawPath(path)) != nil { standing.append(path) }
    }
    try each(standing) { [folder] path throws(SubledgerError) in
      try folder.removeAll(RawPath(path))
    }
    try removeEmptyFolders(in: RawPath(""))
    guard try folder.names().allSatisfy({ $0 == RawPath(checksumsName) }) else { return false }
    try folder.removeFile(RawPath(checksumsName))
    return rmdir(folder.path) == 0 || errno == ENOENT
  }

  private func removeEmptyFolders(in path: RawPath) throws(SubledgerError) {
    for name in try folder.names(in: path) {
      let below = path.appending(name)
      guard try folder.status(of: below)?.isFolder ?? false else { continue }
      try removeEmptyFolders(in: below)
      // A new file may be in it; the next pass finds that.
      folder.removeFolder(below)
    }
  }
}
