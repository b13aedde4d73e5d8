public import Domain
import Formats
import Foundation

/// A configuration file for the input that there is.
public struct NewConfiguration {
  /// The content of the file.
  public let text: String
  private let sample: InputSample

  /// Looks at the first lines of archives and snapshots.
  ///
  /// - Parameters:
  ///   - archives: files or folders; empty takes the folder `archives`, if there is one.
  ///   - snapshots: the same with the folder `snapshots`.
  ///   - stop: answers the signal that asked to stop, 0 while none did.
  /// - Throws: `SubledgerError` of kind `noInput` for a path that does not exist.
  public init(
    archives: [String], snapshots: [String], stop: @escaping @Sendable () -> Int32
  ) throws {
    let paths = [("archives", archives), ("snapshots", snapshots)].map { folder, given in
      given.isEmpty && access(folder, R_OK) == 0 ? [folder] : given
    }
    var sample = InputSample()
    try sample.addEvents(under: paths[0], stop: stop)
    try sample.addSnapshots(under: paths[1], stop: stop)
    self.sample = sample
    var file = ConfigurationText()
    file.notes = sample.notes
    for (name, paths) in zip(["archives", "snapshots.paths"], paths) where !paths.isEmpty {
      file.values[name] = paths.map { "\n- \(Self.yaml($0))" }.joined()
    }
    file.offers["products"] = sample.products(Self.yaml)
    let zone = TimeZone.current.identifier
    if !["GMT", "UTC", "Etc/UTC"].contains(zone), CivilCalendar(named: zone) != nil {
      file.offers["timezone"] = "\(zone)  # the zone of this machine; the default is UTC"
    }
    text = file.text
  }

  /// Every setting with its default or an example: the example configuration.
  public static var example: String { ConfigurationText().text }

  /// Writes it to `path`, in the place of no file, and says what is in it.
  ///
  /// - Throws: `SubledgerError` of kind `cannotCreate` when a file is there.
  public func write(to path: String) throws(SubledgerError) -> String {
    guard !mayExist(path) else {
      throw SubledgerError(
        .cannotCreate, "cannot write the configuration \(path.shown()): it exists",
        hint: "`subledger config check` looks at it; give another name with --config")
    }
    let bytes = Array(text.utf8)
    guard let file = AtomicFile(for: path, rights: 0o644),
      bytes.withUnsafeBytes({ file.file.write($0) }), file.publish() == nil
    else {
      throw SubledgerError.system(
        "write the configuration \(path.shown())", .cannotCreate, cause: errno)
    }
    return ([path.shown() + ": written"] + sample.notes).joined(separator: "\n")
  }

  /// `text` as a scalar that YAML reads as that text.
  private static func yaml(_ text: String) -> String {
    let isPlain = text.wholeMatch(of: /[A-Za-z\/._][A-Za-z0-9\/._-]*/) != nil && text != "null"
    return isPlain ? text : String(decoding: JSONValue.string(text).line, as: UTF8.self)
  }
}

extension InputSample {
  /// What was found, in a line each.
  var notes: [String] {
    guard found > 0 else { return ["No archives were looked at."] }
    let feeds = events.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map { feed, count in
      "\(feed[0]), app \(feed[1].isEmpty ? "unknown" : feed[1].shown()): \(counted(count, "event"))"
    }
    let heading = "In the first lines of \(read) of \(counted(found, "file")):"
    return [heading] + feeds.map { "- \($0)" }
      + (unmapped.isEmpty
        ? [] : ["- products of snapshots that no event names: \(unmapped.count), see `products`"])
  }

  /// The products that only snapshots name, each with the store product that most of its users
  /// bought; nil without such.
  func products(_ yaml: (String) -> String) -> String? {
    guard !unmapped.isEmpty else { return nil }
    return unmapped.sorted { $0.key < $1.key }.map { product, votes in
      let best = votes.max { ($0.value, $1.key) < ($1.value, $0.key) }
      guard let best, best.value * 2 > votes.values.reduce(0, +) else {
        return "\n\(yaml(product)):  # no event of its users tells the store product"
      }
      let share = "\(best.value) of \(votes.values.reduce(0, +)) users bought it"
      return "\n\(yaml(product)): \(yaml(best.key))  # \(share)"
    }.joined()
  }
}
