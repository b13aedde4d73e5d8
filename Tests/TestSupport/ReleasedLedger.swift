public import Foundation

/// A ledger as a released program left it, with the input of its first run and of the next.
///
/// `Tests/Ledgers/make.sh` makes one; it is never made anew once its program was released.
public struct ReleasedLedger: Sendable {
  /// The release.
  public let name: String
  /// Where `ledger.sqlite.gz`, `first/`, `then/` and what belongs to them are.
  public let folder: URL

  /// A ledger that is in `folder`.
  public init(name: String, folder: URL) {
    self.name = name
    self.folder = folder
  }

  /// Where they are kept, with the script that makes them.
  public static let home = Project.root.appendingPathComponent("Tests/Ledgers")

  /// Those of all releases.
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
