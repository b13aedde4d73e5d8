import EventStore
import Reports

/// What of a run's set cannot be told again because of what people did to the ledger since.
struct ErasuresSinceRun {
  /// Persons who were forgotten after the run had published.
  let forgotten: Int

  /// Those of `files` that cannot differ for that reason.
  func unexplained(_ files: [String]) -> [String] {
    forgotten == 0 ? files : files.filter { !Self.names($0) }
  }

  /// Why the others of `files` differ; nil when none does.
  func reason(for files: [String]) -> String? {
    let explained = forgotten == 0 ? [] : files.filter { Self.names($0) }
    guard !explained.isEmpty else { return nil }
    let persons = forgotten == 1 ? "a person was" : "\(forgotten) persons were"
    return "\(persons) forgotten since, so that other names stand in: "
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
    self.init(forgotten: acts.count { $0.deed == .forget && $0.run >= run })
  }
}
