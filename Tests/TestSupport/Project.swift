public import Foundation

/// The checkout that the tests were built from.
public enum Project {
  /// The folder with Package.swift.
  public static let root = URL(fileURLWithPath: #filePath).resolvingSymlinksInPath()
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  /// The path of the file or folder `name` below the root.
  public static func path(_ name: String) -> String { root.appendingPathComponent(name).path }

  /// The text of the file `name` below the root.
  public static func text(of name: String) throws -> String {
    try String(contentsOfFile: path(name), encoding: .utf8)
  }
}
