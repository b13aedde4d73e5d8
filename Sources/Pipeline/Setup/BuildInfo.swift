import EventStore
import Formats
import Reports

/// What the program was built with, and runs with.
public enum BuildInfo {
  /// A line for each, its name first.
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
