public import Foundation

/// A ledger left by a released program, with the input of its first run and of the next.
///
/// `Tests/Ledgers/make.sh` creates one; it is never created again after the release.
public struct ReleasedLedger: Sendable {
  /// The release.
  public let name: String
  /// The folder with `ledger.sqlite.gz`, `first/`, `then/` and related files.
  public let folder: URL

  /// The ledger in `folder`.
  public init(name: String, folder: URL) {
    self.name = name
    self.folder = folder
  }

  /// The folder of all released ledgers, with the script that creates them.
  public static let home = Project.root.appendingPathComponent("Tests/Ledgers")

  /// The ledgers of all releases.
  public static func all() throws -> [ReleasedLedger] {
    try FileManager.default.contentsOfDirectory(at: home, includingPropertiesForKeys: nil)
      .filter(\.hasDirectoryPath)
      .map { ReleasedLedger(name: $0.lastPathComponent, folder: $0) }
      .sorted { $0.name < $1.name }
  }

  /// The ledger's bytes.
  public func unpacked() throws -> Data {
    try gzip("-dc", folder.appendingPathComponent("ledger.sqlite.gz").path)
  }
}
