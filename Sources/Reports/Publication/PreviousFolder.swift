// The folder that the new set replaced. Files that others put there in the last moment move to the
// published folder before it is removed.
internal import Domain
internal import Formats
internal import Glibc

/// A folder that was published, or was staged to be.
struct PreviousFolder {
  let folder: OpenFolder
  let out: OpenFolder
  /// Files that may be removed with it, as paths relative to it.
  let ours: Set<String>
  /// Whether a killed run left it, perhaps before it was ever published.
  let isLeft: Bool

  /// Removes the folder once no new files arrive; otherwise the next run continues.
  func remove(_ each: ForEachPath = oneAfterTheOther) throws(SubledgerError) {
    let passesMax = 10
    for _ in 0..<passesMax where try removeSeen(each) { return }
  }

  /// Removes what one listing of the folder found; returns false when files arrived after it.
  ///
  /// Removes the checksums last: the next run finds our files by them.
  private func removeSeen(_ each: ForEachPath) throws(SubledgerError) -> Bool {
    let entries = try FolderEntries(in: folder, besides: ours)
    var second = HardLinks(old: folder, new: out, isLastNameOnly: isLeft)
    for (name, seen) in try second.rescue(entries) {
      if let now = try folder.status(of: name), now.isSame(as: seen) {
        try folder.removeFile(name)
      }
    }
    let paths = ours.subtracting([checksumsName]).sorted()
    try each(paths) { [folder] path throws(SubledgerError) in
      try folder.removeAll(RawPath(path))
    }
    // Fails for a folder with a new file, which the next pass finds.
    for path in try FolderEntries(in: folder).folders.reversed() { folder.removeFolder(path) }
    guard try folder.names().allSatisfy({ $0 == RawPath(checksumsName) }) else { return false }
    try folder.removeFile(RawPath(checksumsName))
    return rmdir(folder.path) == 0 || errno == ENOENT
  }
}
