import EventStore
import Reports

/// What of a run's set cannot be told again because of what people did to the ledger since.
struct ErasuresSinceRun {
  /// Persons who were erased after the run had published.
  let erased: Int

  /// Those of `files` that cannot differ for that reason.
  func unexplained(_ files: [String]) -> [String] {
    erased == 0 ? files : files.filter { !Self.names($0) }
  }

  /// Why the others of `files` differ; nil when none does.
  func reason(for files: [String]) -> String? {
    let explained = erased == 0 ? [] : files.filter { Self.names($0) }
    guard !explained.isEmpty else { return nil }
    let persons = erased == 1 ? "a person was" : "\(erased) persons were"
    return "\(persons) erased since, so that other names stand in: "
      + explained.joined(separator: ", ")
  }

  /// Whether persons, or files named like them, are named in a file, or in what it describes.
  private static func names(_ file: String) -> Bool {
    namesPersons(file) || file == manifestName
  }
}

extension ErasuresSinceRun {
  /// What was done after `run`.
  init(_ run: Int64, in ledger: Ledger) throws(SubledgerError) {
    let acts = try attempt { try ledger.acts() }
    self.init(erased: acts.count { $0.deed == .erase && $0.run >= run })
  }
}
