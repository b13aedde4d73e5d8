import EventStore
import Formats
import Reports

/// The versions with which the program was built and runs.
public enum BuildInfo {
  /// One line per component, starting with its name.
  public static var lines: [String] {
    #if DEBUG
      let kind = "debug"
    #else
      let kind = "release"
    #endif
    #if arch(x86_64)
      let machine = "x86_64"
    #else
      let machine = "arm64"
    #endif
    let rows = [
      ("build", "\(kind), \(machine)"), ("SQLite", Ledger.sqliteVersion),
      ("inflate", InflateLibrary.inUse), ("reads", InflateLibrary.formats),
      ("report.xlsx", (try? requireWorkbooks()) == nil ? "no" : "yes"),
    ]
    return rows.map { padded($0, to: 12) + $1 }
  }
}
