public import Foundation

/// A fresh folder for one test, removed when the test is done with it.
public final class TemporaryFolder: Sendable {
  /// Where it is.
  public let url: URL

  /// Makes a folder with a name of its own.
  public init() throws {
    url = FileManager.default.temporaryDirectory
      .appendingPathComponent("subledger-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  /// The path of the folder.
  public var path: String { url.path }

  /// The path of `name` inside the folder.
  public func path(_ name: String) -> String { url.appendingPathComponent(name).path }

  /// Writes `bytes` to `name`, making folders on the way, and returns its path.
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

  deinit { try? FileManager.default.removeItem(at: url) }
}
