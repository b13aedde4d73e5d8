internal import Formats
internal import Glibc

/// The folder of a set that is no longer published.
struct PreviousFolder {
  let path: String
  /// The published folder.
  let out: String
  /// Files of sets, as paths inside the folder; all others belong to somebody else.
  let ours: Set<String>

  /// Removes the folder, after it has moved everything of others to the published one.
  ///
  /// The checksums go last: a run that finds the folder reads from them what is ours. A file that
  /// arrives meanwhile leaves the folder to the next run.
  func remove(_ each: ForEachPath = oneAfterTheOther) throws(PublishError) {
    // A run that died may have left it.
    let ours = ours.union([carriedName])
    let names = Set(ours.map { RawPath($0) })
    try moveOthers(in: RawPath(""), names)
    var places: [String] = []
    for name in ours.sorted() where name != checksumsName {
      if try status(of: "\(path)/\(name)") != nil { places.append("\(path)/\(name)") }
    }
    try each(places) { place throws(PublishError) in try removeAll(place) }
    try moveOthers(in: RawPath(""), names)
    try removeFile("\(path)/\(checksumsName)")
    guard rmdir(path) == 0 || errno == ENOENT else { throw .system("remove the folder", path) }
  }

  /// Moves what is not ours to the same place in the published folder, where a newer file stays,
  /// and removes folders that are empty then.
  private func moveOthers(
    in folder: RawPath, _ ours: Set<RawPath>
  ) throws(PublishError) {
    let (old, new) = (RawPath(path), RawPath(out))
    var isMoved = false
    for name in try names(in: old.appending(folder)) {
      let entry = folder.appending(name)
      let place = old.appending(entry)
      guard !ours.contains(entry), let here = try status(of: place) else { continue }
      let there = try status(of: new.appending(entry))
      let isShared = here.isFolder && ours.contains { $0.isInside(entry) }
      if here.isFolder, isShared || there?.isFolder == true {
        let others = try names(in: place).contains { !ours.contains(entry.appending($0)) }
        if others, there == nil {
          try makeFolders(String(decoding: new.appending(entry).bytes, as: UTF8.self))
        }
        try moveOthers(in: entry, ours)
        // Files of ours may be left in it.
        rmdir(place.terminated)
      } else if let there, there.isFolder || !here.isNewer(than: there) {
        if !here.isFolder, !there.isFolder { try removeFile(place) }
      } else {
        guard rename(place.terminated, new.appending(entry).terminated) == 0 || errno == ENOENT
        else { throw .system("move the file to", new.appending(entry).shown, .cannotCreate) }
        isMoved = true
      }
    }
    if isMoved { try sync(new.appending(folder)) }
  }
}

extension RawPath {
  func isInside(_ folder: RawPath) -> Bool {
    bytes.starts(with: folder.bytes + [UInt8(ascii: "/")])
  }
}
