// Foreign files in the published folder stay there: they are linked into the staged folder before
// the two are exchanged, so that they are never missing.
internal import Domain
internal import Formats
internal import Glibc

/// What of a folder is not ours, as paths inside it.
struct ForeignEntries {
  private(set) var files: [RawPath] = []
  /// Each folder before its contents.
  private(set) var folders: [RawPath] = []

  /// The contents of `folder` besides the files `ours`.
  ///
  /// A folder that holds only files of ours is ours, too.
  init(in folder: RawPath, besides ours: Set<String>) throws(SubledgerError) {
    let names = Set(ours.map { RawPath($0) })
    let parents = Set(ours.filter { $0.contains("/") }.map { RawPath(parent(of: $0)) })
    try add(RawPath(""), in: folder, besides: names, parents)
    folders.sort(by: RawPath.precedes)
  }

  private mutating func add(
    _ prefix: RawPath, in folder: RawPath, besides ours: Set<RawPath>, _ parents: Set<RawPath>
  ) throws(SubledgerError) {
    for name in try names(in: folder.appending(prefix)) {
      let path = prefix.appending(name)
      guard !ours.contains(path), let status = try status(of: folder.appending(path)) else {
        continue
      }
      guard status.isFolder else {
        files.append(path)
        continue
      }
      let before = (files.count, folders.count)
      try add(path, in: folder, besides: ours, parents)
      if !parents.contains(path) || before != (files.count, folders.count) {
        folders.append(path)
      }
    }
  }
}

/// Gives entries of one folder a second name in another, which is on the disk at the end.
struct SecondNames {
  let old: RawPath
  let new: RawPath
  /// Whether a file is linked only when nothing else would be left of it.
  var isLastNameOnly = false
  private var made: [RawPath] = []
  /// Folders in which something got a name.
  private var touched: Set<RawPath> = []

  init(from old: String, to new: String, isLastNameOnly: Bool = false) {
    self.old = RawPath(old)
    self.new = RawPath(new)
    self.isLastNameOnly = isLastNameOnly
  }

  /// Links every file; false where that cannot be.
  ///
  /// Files that are in the new folder already stay.
  mutating func link(_ entries: ForeignEntries) throws(SubledgerError) -> Bool {
    for path in entries.folders {
      guard try makeFolder(path) else { return false }
    }
    for path in entries.files where try status(of: new.appending(path)) == nil {
      guard linkFile(path) else { return false }
    }
    try finish()
    return true
  }

  /// Links every missing file and replaces files by versions that were written later; returns, by
  /// path, the entries of the old folder that are safe now.
  mutating func rescue(_ entries: ForeignEntries) throws(SubledgerError) -> [RawPath: stat] {
    var safe: [RawPath: stat] = [:]
    for path in entries.folders { _ = try makeFolder(path) }
    for path in entries.files {
      if let here = try status(of: old.appending(path)), try rescue(path, here) {
        safe[path] = here
      }
    }
    try finish()
    return safe
  }

  /// False when something has changed meanwhile, or a folder has the file's name.
  private mutating func rescue(_ path: RawPath, _ here: stat) throws(SubledgerError) -> Bool {
    guard let there = try status(of: new.appending(path)) else {
      if isLastNameOnly, here.st_nlink > 1 { return true }
      if linkFile(path) { return true }
      guard [EEXIST, ENOENT, ENOTDIR].contains(errno) else {
        throw .system("keep the file", new.appending(path).shown, .cannotCreate)
      }
      return false
    }
    if there.isFolder { return false }
    guard !here.isSame(as: there), here.isNewer(than: there) else { return true }
    guard
      rename(old.appending(path).terminated, new.appending(path).terminated) == 0 || errno == ENOENT
    else {
      throw .system("keep the file", new.appending(path).shown, .cannotCreate)
    }
    touched.insert(path.parent)
    return false
  }

  private mutating func linkFile(_ path: RawPath) -> Bool {
    let linked = Glibc.link(old.appending(path).terminated, new.appending(path).terminated)
    if linked == 0 { touched.insert(path.parent) }
    return linked == 0
  }

  /// False where something else has its name.
  private mutating func makeFolder(_ path: RawPath) throws(SubledgerError) -> Bool {
    let place = new.appending(path)
    if let there = try status(of: place) { return there.isFolder }
    guard mkdir(place.terminated, 0o700) == 0 else { return false }
    made.append(path)
    touched.formUnion([path, path.parent])
    return true
  }

  /// Gives new folders the rights that somebody gave the old ones, and syncs what got names.
  private mutating func finish() throws(SubledgerError) {
    for path in made.reversed() {
      guard let status = try status(of: old.appending(path)) else { continue }
      let place = new.appending(path)
      guard chmod(place.terminated, status.st_mode & 0o7777) == 0 else {
        throw .system("set the rights of", place.shown)
      }
    }
    for path in touched { try syncFolder(new.appending(path)) }
    (made, touched) = ([], [])
  }

  /// A folder that somebody made unreadable is left to the system.
  private func syncFolder(_ path: RawPath) throws(SubledgerError) {
    guard let folder = OpenFile(path.terminated, O_RDONLY) else {
      if errno == EACCES { return }
      throw .system("open", path.shown)
    }
    guard folder.sync() else { throw .system("sync", path.shown) }
  }
}
