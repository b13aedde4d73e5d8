public import Domain
import Formats
import Foundation

/// A configuration file for the existing input.
public struct NewConfiguration {
  /// The content of the file.
  public let text: String
  private let notes: [String]

  /// Reads the first lines of archives; no paths mean the folder `archives` or `snapshots`, if it
  /// exists.
  ///
  /// - Throws: `SubledgerError` of kind `noInput` for a path that does not exist.
  public init(
    archives: [String], snapshots: [String], stop: @escaping @Sendable () -> Int32
  ) throws {
    let paths = [("archives", archives), ("snapshots", snapshots)].map { folder, given in
      given.isEmpty && access(folder, R_OK) == 0 ? [folder] : given
    }
    notes = try inputNotes(of: paths[0], stop: stop)
    _ = try ArchiveFolder.files(under: paths[1], stop: stop)
    var file = ConfigurationText()
    file.notes = notes
    for (name, paths) in zip(["archives", "snapshots.paths"], paths) where !paths.isEmpty {
      file.values[name] = paths.map { "\n- \(Self.yaml($0))" }.joined()
    }
    let zone = TimeZone.current.identifier
    if !["GMT", "UTC", "Etc/UTC"].contains(zone), CivilCalendar(named: zone) != nil {
      file.offers["timezone"] = "\(zone)  # the zone of this machine; the default is UTC"
    }
    text = file.text
  }

  /// The example configuration: every setting with its default or an example.
  public static var example: String { ConfigurationText().text }

  /// Writes the file to `path`, without replacing an existing one, and returns what it contains.
  ///
  /// - Throws: `SubledgerError` of kind `cannotCreate` when the file exists.
  public func write(to path: String) throws(SubledgerError) -> String {
    guard !mayExist(path) else {
      throw SubledgerError(
        .cannotCreate, "cannot write the configuration \(path.shown()): it exists",
        hint: "`subledger config check` looks at it; give another name with --config")
    }
    let bytes = Array(text.utf8)
    guard let file = AtomicFile(for: path, rights: 0o644),
      bytes.withUnsafeBytes({ file.file.write($0) }), file.publish()
    else {
      throw SubledgerError.system(
        "write the configuration \(path.shown())", .cannotCreate, cause: errno)
    }
    return ([path.shown() + ": written"] + notes).joined(separator: "\n")
  }

  /// Returns `text` as a scalar that YAML reads as that text.
  private static func yaml(_ text: String) -> String {
    let isPlain = text.wholeMatch(of: /[A-Za-z\/._][A-Za-z0-9\/._-]*/) != nil && text != "null"
    return isPlain ? text : String(decoding: JSONValue.string(text).line, as: UTF8.self)
  }
}
