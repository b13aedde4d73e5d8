import Foundation

/// The files of the project that these tests stand in.
enum Repository {
  /// The folder with Package.swift, walking up from this file with symbolic links resolved.
  static let root: URL = {
    var folder = URL(fileURLWithPath: #filePath).resolvingSymlinksInPath()
    while folder.path != "/" {
      folder.deleteLastPathComponent()
      let manifest = folder.appendingPathComponent("Package.swift").path
      if FileManager.default.fileExists(atPath: manifest) { return folder }
    }
    preconditionFailure("there is no Package.swift above \(#filePath)")
  }()

  /// Package.swift and every Swift file of Sources, Tests and Fuzz.
  static let swiftFiles: [SourceFile] = (["Package.swift"] + swiftPaths).compactMap { path in
    text(of: path).map { SourceFile(path: path, text: $0) }
  }

  /// The text of a file, or nil when there is none.
  static func text(of path: String) -> String? {
    try? String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
  }

  static func has(_ path: String) -> Bool {
    FileManager.default.fileExists(atPath: root.appendingPathComponent(path).path)
  }

  /// Paths below `folder` that end in `ending`, relative to the root and in order of their names.
  static func files(under folder: String, ending: String) -> [String] {
    let path = root.appendingPathComponent(folder).path
    let names = (try? FileManager.default.subpathsOfDirectory(atPath: path)) ?? []
    return names.filter { $0.hasSuffix(ending) }.sorted().map { "\(folder)/\($0)" }
  }

  private static var swiftPaths: [String] {
    ["Sources", "Tests", "Fuzz"].flatMap { files(under: $0, ending: ".swift") }
  }
}
