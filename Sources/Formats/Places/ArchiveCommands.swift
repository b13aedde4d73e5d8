internal import Domain

/// Archives that are not below a path of the file system.
public struct ArchiveSources: Sendable {
  /// Commands by what paths begin with.
  public var commands: [ArchiveCommands] = []
  /// What came on standard input, which the path `-` means.
  public var input: StandardInput?

  /// None.
  public init() {}

  /// Whether a path is none of the file system.
  public func take(_ path: String) -> Bool { path == "-" || commands(for: path) != nil }

  func commands(for path: String) -> ArchiveCommands? {
    commands.filter { path.hasPrefix($0.prefix) }.max { $0.prefix.count < $1.prefix.count }
  }
}

/// The commands that list and read archives of an object store or another place.
public struct ArchiveCommands: Sendable, Equatable {
  /// What paths of the place begin with, such as `s3://`.
  public let prefix: String
  private let list: [String]
  private let read: [String]
  /// The variables that the commands get, each as `NAME=value`.
  public var environment: [String] = []

  /// How much a command may list at most, in bytes.
  private static let listingMax = 64 << 20

  /// Commands as words, in which `{path}` is replaced by a path as given, `{bucket}` by its first
  /// part behind the prefix, and `{key}` by the rest.
  public init(prefix: String, list: [String], read: [String]) {
    (self.prefix, self.list, self.read) = (prefix, list, read)
  }

  func reading(
    _ path: String, stop: @escaping @Sendable () -> Int32
  ) throws(SubledgerError) -> CommandOutput {
    try CommandOutput(
      arguments(read, path), environment: environment, doing: "read \(path.shown())", stop: stop)
  }

  /// What lies at `root` and below it, with its path and its name below the root.
  ///
  /// - Throws: `SubledgerError` of kind `noInput` when nothing does.
  func objects(
    under root: String, stop: @escaping @Sendable () -> Int32
  ) throws(SubledgerError) -> [(path: String, name: String, object: ListedObject)] {
    var root = root
    while root.hasSuffix("/"), root.count > prefix.count { root.removeLast() }
    let command = try CommandOutput(
      arguments(list, root), environment: environment, doing: "list \(root.shown())",
      stop: stop)
    let listing = try ObjectListing(of: output(of: command), by: command)
    let (bucket, key) = place(root)
    let last = String(key.split(separator: "/").last ?? "")
    let found = listing.objects.compactMap { object -> (String, String, ListedObject)? in
      // A tool that is asked for one object names it from its folder.
      let isRoot = object.isRelative && listing.objects.count == 1 && object.name == last
      let base = object.isRelative ? "\(root)/" : "\(prefix)\(bucket)/"
      let path = isRoot ? root : base + object.name
      if path == root { return (path, last, object) }
      guard path.hasPrefix("\(root)/"), !path.hasSuffix("/") else { return nil }
      return (path, String(path.dropFirst(root.count + 1)), object)
    }
    guard found.isEmpty else { return found }
    throw SubledgerError(
      .noInput, "cannot list \(root.shown()): nothing is there", hint: "check the path")
  }

  private func output(of command: CommandOutput) throws(SubledgerError) -> [UInt8] {
    var bytes: [UInt8] = []
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 8)
    defer { buffer.deallocate() }
    while true {
      let count = try command.read(into: buffer)
      guard count > 0 else { return bytes }
      bytes += buffer[..<count]
      guard bytes.count <= Self.listingMax else {
        throw command.brokenOff(
          "more than \(Self.listingMax >> 20) MiB are listed: give folders below it")
      }
    }
  }

  private func place(_ path: String) -> (bucket: Substring, key: Substring) {
    let parts = path.dropFirst(prefix.count).split(
      separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    return (parts.first ?? "", parts.count > 1 ? parts[1] : "")
  }

  private func arguments(_ words: [String], _ path: String) -> [String] {
    let (bucket, key) = place(path)
    return words.map { word in
      word.replacing(/\{(path|bucket|key)\}/) { match in
        switch match.1 {
        case "path": path[...]
        case "bucket": bucket
        default: key
        }
      }
    }
  }
}
