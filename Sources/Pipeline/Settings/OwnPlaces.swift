import EventStore
import Reports

extension Plan {
  /// What the job itself writes, and what it was told to read as something else, which is no input:
  /// the published folder and the files of a set in it, the ledger and what lies beside it, and the
  /// files that say how to do the job.
  ///
  /// The files of a set are told by their names, for one that was broken off names none of them.
  var ownPlaces: [String] {
    let set = (reportPaths + documentPaths).map { "\(out)/\($0)" }
    return [out] + set + LedgerFiles(of: ledger).all + settings
  }

  /// The files that say how to do the job.
  private var settings: [String] {
    let secrets = configuration.secrets.values.joined().compactMap { source -> String? in
      if case .file(let path) = source { path } else { nil }
    }
    return [configuration.path, pricesFile?.path, decisionsFile?.path].compactMap(\.self) + secrets
  }
}
