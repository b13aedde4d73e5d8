internal import Glibc
public import Domain

/// Finds the archives under files and folders.
public enum ArchiveFolder {
  /// Everything to read under `paths`: files directly, folders recursively.
  ///
  /// A path that does not exist may be one in the form of `ArchiveFile.path`. Hidden entries and
  /// entries other than regular files are left out, unless `paths` names a hidden one. So are files
  /// in `others`, and folders in `others` that are not in `paths`, under any name or link. A file
  /// that is reached twice (overlapping roots, links) is listed once; a hard link is a separate
  /// file. Links to folders are walked last, so that a file is listed under its own name. `stop`
  /// returns the signal that asked to stop, 0 if none did, and ends the reading of any of the
  /// files. `sources` has the commands that list and read remote archives, and standard input
  /// (`-`).
  public static func files(
    under paths: [String], except others: [String] = [], by sources: ArchiveSources = .init(),
    stop: @escaping @Sendable () -> Int32 = { 0 }
  ) throws(SubledgerError) -> ArchiveListing {
    var walk = FolderWalk(stop: stop)
    for text in others { walk.except(RawPath(text)) }
    for text in paths {
      if let commands = sources.commands(for: text) {
        let away = others.filter { commands.prefix == sources.commands(for: $0)?.prefix }
        try walk.objects(text, except: away.filter { !paths.contains($0) }, by: commands)
        continue
      }
      if text == "-", let input = sources.input {
        try walk.take(ArchiveFile(input, stop: stop))
        continue
      }
      let path = RawPath(text)
      let shown = RawPath(unescaping: text)
      try walk.root(!isPresent(path) && isPresent(shown) ? shown : path)
    }
    try walk.linked()
    return walk.listing
  }

  /// The file at a path in the form of `ArchiveFile.path`; nil if it does not exist.
  public static func file(
    at path: String, by sources: ArchiveSources = .init()
  ) throws(SubledgerError) -> ArchiveFile? {
    if sources.commands(for: path) != nil {
      do throws(SubledgerError) {
        return try files(under: [path], by: sources).files.first { $0.path == path }
      } catch {
        guard error.kind == .noInput else { throw error }
        return nil
      }
    }
    let places = [RawPath(path), RawPath(unescaping: path)]
    if !places.contains(where: isPresent) {
      for place in places { _ = try fileStatus(place) }
      return nil
    }
    return try files(under: [path]).files.first { $0.path == path }
  }
}

private struct FolderWalk {
  private struct FolderID: Hashable {
    let device: UInt64
    let inode: UInt64

    init(_ status: stat) {
      device = UInt64(status.st_dev)
      inode = UInt64(status.st_ino)
    }
  }

  private let stop: @Sendable () -> Int32
  private var files: [ArchiveFile] = []
  private var leftOut: [SkippedEntry] = []
  private var links: [(path: RawPath, relative: RawPath)] = []
  private var foldersSeen: Set<FolderID> = []
  private var filesSeen: Set<RawPath> = []
  private var foldersOfOthers: Set<FolderID> = []
  private var filesOfOthers: Set<RawPath> = []

  init(stop: @escaping @Sendable () -> Int32) { self.stop = stop }

  var listing: ArchiveListing {
    ArchiveListing(
      files: files.sorted { ($0.relative, $0.location) < ($1.relative, $1.location) },
      leftOut: leftOut.sorted { $0.path.utf8.lexicographicallyPrecedes($1.path.utf8) })
  }

  /// Leaves out the entry at `path` for the rest of the walk; it need not exist.
  mutating func except(_ path: RawPath) {
    guard let status = try? fileStatus(path) else { return }
    if isFolder(status) {
      foldersOfOthers.insert(FolderID(status))
    } else if let resolved = path.resolved {
      filesOfOthers.insert(resolved)
    }
  }

  mutating func root(_ path: RawPath) throws(SubledgerError) {
    guard let status = try fileStatus(path) else {
      throw SubledgerError.system("list \(path.shown)", cause: errno)
    }
    if isFolder(status) {
      try folder(path, relative: RawPath(""), status)
    } else {
      file(path, relative: path.lastComponent, status)
    }
  }

  mutating func objects(
    _ root: String, except others: [String], by commands: ArchiveCommands
  ) throws(SubledgerError) {
    for (path, name, object) in try commands.objects(under: root, stop: stop) {
      if others.contains(where: { path == $0 || path.hasPrefix($0.hasSuffix("/") ? $0 : $0 + "/") })
      {
        leave(RawPath(path), .notInput)
      } else if path != root, name.split(separator: "/").contains(where: { $0.hasPrefix(".") }) {
        leave(RawPath(path), .hidden)
      } else if filesSeen.insert(RawPath(path)).inserted {
        take(
          ArchiveFile(
            location: RawPath(path), relative: RawPath(name), bytes: object.bytes,
            modified: Instant(milliseconds: 0), inode: UInt64(bitPattern: object.version),
            written: object.written, by: commands, stop: stop))
      }
    }
  }

  mutating func take(_ file: ArchiveFile) { files.append(file) }

  /// Follows the links found so far, and those found while following them.
  mutating func linked() throws(SubledgerError) {
    var next = 0
    while next < links.count {
      let link = links[next]
      next += 1
      if let status = try fileStatus(link.path) {
        try entry(link.path, relative: link.relative, status)
      } else {
        leave(link.path, .brokenLink)
      }
    }
  }

  private mutating func folder(
    _ path: RawPath, relative: RawPath, _ status: stat
  ) throws(SubledgerError) {
    guard foldersSeen.insert(FolderID(status)).inserted else { return }
    guard let names = path.names() else {
      throw SubledgerError.system("list \(path.shown)", cause: errno)
    }
    for name in names {
      let child = path.appending(name)
      if name.bytes.first == UInt8(ascii: ".") {
        leave(child, .hidden)
        continue
      }
      if let status = try fileStatus(child, followingLinks: false) {
        try entry(child, relative: relative.appending(name), status)
      } else if errno == ENOENT {
        leave(child, .vanished)
      } else {
        throw SubledgerError.system("list \(child.shown)", cause: errno)
      }
    }
  }

  private mutating func entry(
    _ path: RawPath, relative: RawPath, _ status: stat
  ) throws(SubledgerError) {
    if isFolder(status) {
      guard !foldersOfOthers.contains(FolderID(status)) else { return leave(path, .notInput) }
      try folder(path, relative: relative, status)
    } else if status.st_mode & S_IFMT == S_IFLNK {
      links.append((path, relative))
    } else {
      file(path, relative: relative, status)
    }
  }

  private mutating func file(_ path: RawPath, relative: RawPath, _ status: stat) {
    guard status.st_mode & S_IFMT == S_IFREG else { return leave(path, .notRegular) }
    guard let resolved = path.resolved else { return leave(path, .vanished) }
    guard !filesOfOthers.contains(resolved) else { return leave(path, .notInput) }
    guard filesSeen.insert(resolved).inserted else { return }
    let modified = modificationTime(status)
    files.append(
      ArchiveFile(
        location: path, relative: relative, bytes: Int64(status.st_size), modified: modified,
        inode: UInt64(status.st_ino), written: modified, stop: stop))
  }

  private mutating func leave(_ path: RawPath, _ reason: SkippedEntry.Reason) {
    leftOut.append(SkippedEntry(path: path.shown, reason: reason))
  }
}

private func isFolder(_ status: stat) -> Bool { status.st_mode & S_IFMT == S_IFDIR }

/// When the content changed, clamped: file systems store years beyond the range of milliseconds.
func modificationTime(_ status: stat) -> Instant {
  let secondsMax: Int64 = 1 << 50
  let seconds = min(max(Int64(status.st_mtim.tv_sec), -secondsMax), secondsMax)
  return Instant(milliseconds: seconds * 1000 + Int64(status.st_mtim.tv_nsec) / 1_000_000)
}

private func isPresent(_ path: RawPath) -> Bool { (try? fileStatus(path)) != nil }

/// The status of what is at `path`; nil, with `errno` set, if nothing can be there.
///
/// - Throws: `SubledgerError` when it is inaccessible.
private func fileStatus(
  _ path: RawPath, followingLinks: Bool = true
) throws(SubledgerError) -> stat? {
  var status = stat()
  let (name, absences) = (path.terminated, [ENOENT, ENOTDIR, ELOOP, ENAMETOOLONG])
  if (followingLinks ? stat(name, &status) : lstat(name, &status)) == 0 { return status }
  guard absences.contains(errno) else {
    throw SubledgerError.system("list \(path.shown)", cause: errno)
  }
  return nil
}
