import Foundation
import TestSupport

/// The files of the project that contains these tests.
enum Repository {
  /// Package.swift and every Swift file of Sources and Tests.
  static let swiftFiles: [SourceFile] = (["Package.swift"] + swiftPaths).compactMap { path in
    text(of: path).map { SourceFile(path: path, text: $0) }
  }

  /// The text of a file; nil when it does not exist.
  static func text(of path: String) -> String? {
    try? Project.text(of: path)
  }

  static func has(_ path: String) -> Bool {
    FileManager.default.fileExists(atPath: Project.path(path))
  }

  /// Paths below `folder` with this ending, relative to the root and sorted by name.
  static func files(under folder: String, ending: String) -> [String] {
    let path = Project.path(folder)
    let names = (try? FileManager.default.subpathsOfDirectory(atPath: path)) ?? []
    return names.filter { $0.hasSuffix(ending) }.sorted().map { "\(folder)/\($0)" }
  }

  private static var swiftPaths: [String] {
    ["Sources", "Tests"].flatMap { files(under: $0, ending: ".swift") }
  }
}
