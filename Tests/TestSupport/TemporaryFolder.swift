public import Foundation
import Synchronization

/// A new folder for one test, removed when the test has finished.
///
/// It is in memory if there is room: the program syncs what it writes, and tests need not wait for
/// a disk.
public final class TemporaryFolder: Sendable {
  /// Its location.
  public let url: URL

  /// Creates a folder with a unique name.
  public init() throws {
    url = Self.parent.appendingPathComponent("subledger-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    _ = Self.removalAtExit
    Self.open.withLock { _ = $0.insert(url) }
  }

  /// Creates a folder with a copy of everything in `other`.
  public convenience init(copying other: TemporaryFolder) throws {
    try self.init()
    // Running programs write and remove hidden files.
    for name in try FileManager.default.contentsOfDirectory(atPath: other.path)
    where !name.hasPrefix(".std") {
      try FileManager.default.copyItem(atPath: other.path(name), toPath: path(name))
    }
  }

  /// The path of the folder.
  public var path: String { url.path }

  /// The path of `name` inside the folder.
  public func path(_ name: String) -> String { url.appendingPathComponent(name).path }

  /// Writes `bytes` to `name`, creates missing folders, and returns its path.
  @discardableResult
  public func write(_ bytes: [UInt8], to name: String) throws -> String {
    let target = url.appendingPathComponent(name)
    try FileManager.default.createDirectory(
      at: target.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(bytes).write(to: target)
    return target.path
  }

  /// Writes `text` to `name` and returns its path.
  @discardableResult
  public func write(_ text: String, to name: String) throws -> String {
    try write(Array(text.utf8), to: name)
  }

  deinit {
    try? FileManager.default.removeItem(at: url)
    Self.open.withLock { _ = $0.remove(url) }
  }

  /// `/dev/shm` if it allows programs and has four gigabytes free; otherwise the system's default.
  private static let parent: URL = {
    var memory = statvfs()
    let isPresent = statvfs("/dev/shm", &memory) == 0
    let free = UInt64(memory.f_bavail) * UInt64(memory.f_frsize)
    // ST_NOEXEC of <sys/statvfs.h>.
    let runsPrograms = memory.f_flag & 8 == 0
    return isPresent && free > 4 << 30 && runsPrograms
      ? URL(fileURLWithPath: "/dev/shm") : FileManager.default.temporaryDirectory
  }()

  private static let open = Mutex<Set<URL>>([])

  /// Folders shared by tests are removed at the end of the process.
  private static let removalAtExit = atexit {
    for url in TemporaryFolder.open.withLock({ $0 }) {
      try? FileManager.default.removeItem(at: url)
    }
  }
}
