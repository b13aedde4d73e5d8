internal import Domain

/// Archives that are not on a path of the file system.
public struct ArchiveSources: Sendable {
  /// Commands by path prefix.
  public var commands: [ArchiveCommands] = []
  /// Standard input, for the path `-`.
  public var input: StandardInput?

  /// No sources.
  public init() {}

  /// Whether a path is not on the file system.
  public func contains(_ path: String) -> Bool { path == "-" || commands(for: path) != nil }

  func commands(for path: String) -> ArchiveCommands? {
    commands.filter { path.hasPrefix($0.prefix) }.max { $0.prefix.count < $1.prefix.count }
  }
}

/// The commands that list and read archives of an object store or another place.
public struct ArchiveCommands: Sendable, Equatable {
  /// The prefix of the place's paths, such as `s3://`.
  public let prefix: String
  private let list: [String]
  private let read: [String]
  /// The commands' environment variables, each as `NAME=value`.
  public var environment: [String] = []

  /// The largest listing that a command may print, in bytes.
  private static let listingMax = 64 << 20

  /// Commands as words, in which `{path}` is replaced by the path as given, `{bucket}` by its first
  /// part after the prefix, and `{key}` by the rest.
  public init(prefix: String, list: [String], read: [String]) {
    (self.prefix, self.list, self.read) = (prefix, list, read)
  }

  func reading(
    _ path: String, stop: @escaping @Sendable () -> Int32
  ) throws(SubledgerError) -> CommandOutput {
    try CommandOutput(
      arguments(read, path), environment: environment, doing: "read \(path.shown())", stop: stop)
  }

  /// The objects at `root` and below it, each with its path and its name below the root.
  ///
  /// - Throws: `SubledgerError` of kind `noInput` when there are none.
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
      // A tool that lists a single object names it relative to its folder.
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
        throw command.failure(
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
