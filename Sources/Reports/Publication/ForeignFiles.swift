// Foreign files in the published folder stay there: they are linked into the staged folder before
// the two folders are exchanged, so that they are never missing.
internal import Domain
internal import Formats
internal import Glibc

/// The contents of a folder, as paths relative to it.
struct FolderEntries {
  private(set) var files: [RawPath] = []
  /// Each folder before its contents.
  private(set) var folders: [RawPath] = []

  /// The contents of `folder` without the files `ours`, and without folders of only these.
  init(in folder: OpenFolder, besides ours: Set<String> = []) throws(SubledgerError) {
    let names = Set(ours.map { RawPath($0) })
    let parents = Set(ours.filter { $0.contains("/") }.map { RawPath(parent(of: $0)) })
    try add(RawPath(""), in: folder, besides: names, parents)
    folders.sort()
  }

  private mutating func add(
    _ prefix: RawPath, in folder: OpenFolder, besides ours: Set<RawPath>, _ parents: Set<RawPath>
  ) throws(SubledgerError) {
    for name in try folder.names(in: prefix) {
      let path = prefix.appending(name)
      guard !ours.contains(path), let status = try folder.status(of: path) else { continue }
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

/// Links entries of one folder into another, and syncs the other.
struct HardLinks {
  let old: OpenFolder
  let new: OpenFolder
  /// Whether a file is linked only if this is its last name.
  var isLastNameOnly = false
  var made: [RawPath] = []
  /// Folders that got new entries.
  var touched: Set<RawPath> = []

  /// Links every file that the new folder lacks; returns false where that is impossible.
  mutating func link(_ entries: FolderEntries) throws(SubledgerError) -> Bool {
    for path in entries.folders {
      guard try makeFolder(path) else { return false }
    }
    for path in entries.files where try new.status(of: path) == nil {
      guard linkFile(path) else { return false }
    }
    try finish()
    return true
  }

  /// Links every missing file and replaces files that were written earlier; returns, by path, the
  /// entries of the old folder that are now safe to remove.
  mutating func rescue(_ entries: FolderEntries) throws(SubledgerError) -> [RawPath: stat] {
    var safe: [RawPath: stat] = [:]
    for path in entries.folders { _ = try makeFolder(path) }
    for path in entries.files {
      if let here = try old.status(of: path), try rescue(path, here) {
        safe[path] = here
      }
    }
    try finish()
    return safe
  }

  /// Returns false when the file has changed in between, or a folder has its name.
  private mutating func rescue(_ path: RawPath, _ here: stat) throws(SubledgerError) -> Bool {
    guard let there = try new.status(of: path) else {
      if isLastNameOnly, here.st_nlink > 1 { return true }
      if linkFile(path) { return true }
      guard [EEXIST, ENOENT, ENOTDIR].contains(errno) else {
        throw .system("keep the file", new.shown(path), .cannotCreate)
      }
      return false
    }
    if there.isFolder { return false }
    guard !here.isSame(as: there), here.isNewer(than: there) else { return true }
    guard old.move(path, into: new) || errno == ENOENT else {
      throw .system("keep the file", new.shown(path), .cannotCreate)
    }
    touched.insert(path.parent)
    return false
  }

  private mutating func linkFile(_ path: RawPath) -> Bool {
    let isLinked = old.link(path, into: new)
    if isLinked { touched.insert(path.parent) }
    return isLinked
  }

  /// Returns false when something else has its name.
  private mutating func makeFolder(_ path: RawPath) throws(SubledgerError) -> Bool {
    if let there = try new.status(of: path) { return there.isFolder }
    guard new.makeFolder(path, 0o700) else { return false }
    made.append(path)
    touched.formUnion([path, path.parent])
    return true
  }

  /// Copies the permissions of the old folders to the new ones, and syncs folders with new entries.
  private mutating func finish() throws(SubledgerError) {
    for path in made.reversed() {
      guard let status = try old.status(of: path) else { continue }
      try new.setRights(status.st_mode, of: path)
    }
    for path in touched { try new.sync(path) }
    (made, touched) = ([], [])
  }
}
