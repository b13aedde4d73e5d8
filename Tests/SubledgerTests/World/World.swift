import Foundation
import TestSupport
import Testing

/// A synthetic world, and the program that reports on it.
struct World {
  let program: Program
  /// The end of the world, its as-of.
  let asOf: String

  private static let written = MadeOnce<[String], Program>()
  private static let published = MadeOnce<[String], Program>()

  /// A world in the folder `world` of a new program, optionally with what a run publishes of it.
  ///
  /// Each combination of options is created once and copied for each test.
  init(
    seed: Int, subscribers: Int = 300, months: Int = 14, lost: Int = 0, archives: Int = 14,
    more: [String] = [], isPublished: Bool = false
  ) throws {
    let options =
      [
        "simulate", "--out", "world", "--seed", "\(seed)", "--subscribers", "\(subscribers)",
        "--months", "\(months)", "--lost", "\(lost)", "--archives", "\(archives)",
      ] + more
    let written = try Self.written.value(options) {
      let program = try Program()
      try program.run(options).ended(0)
      return program
    }
    if isPublished {
      let published = try Self.published.value(options) {
        let world = try World(Program(copying: written))
        try world.publish(world.run())
        return world.program
      }
      try self.init(Program(copying: published))
    } else {
      try self.init(Program(copying: written))
    }
  }

  /// The world in a new folder with a copy of another's files.
  init(copying other: World) throws { try self.init(Program(copying: other.program)) }

  private init(_ program: Program) throws {
    self.program = program
    let path = program.folder.path("world/truth/as_of.txt")
    asOf = try String(contentsOfFile: path, encoding: .utf8)
      .trimmingCharacters(in: .whitespacesAndNewlines)
  }

  /// The arguments of a complete run over `archives`, with a ledger named like the report set.
  func run(
    archives: [String] = ["world/archives"], out: String = "reports", asOf: String? = nil
  ) -> [String] {
    let snapshots = ["world/snapshots/sdk", "world/snapshots/iaptic"].filter(isPresent)
    let prices = isPresent("world/prices.csv") ? ["--prices", "world/prices.csv"] : []
    let inputs = (snapshots.isEmpty ? [] : ["--snapshots"]) + snapshots + prices
    return ["run", "--archives"] + archives + inputs + [
      "--config", "world/subledger.yaml", "--as-of", asOf ?? self.asOf, "--ledger",
      "\(out).sqlite", "--out", out,
    ]
  }

  private func isPresent(_ name: String) -> Bool {
    FileManager.default.fileExists(atPath: program.folder.path(name))
  }

  /// Runs the job and expects a published set.
  func publish(_ arguments: [String]) throws {
    try program.run(arguments).ended(0, 1)
  }

  /// Every archive of the world, in order.
  func archives() throws -> [URL] {
    let folder = URL(fileURLWithPath: program.folder.path("world/archives"))
    return try FileManager.default.contentsOfDirectory(
      at: folder, includingPropertiesForKeys: nil
    ).sorted { $0.path < $1.path }
  }
}

/// Files and columns about arrival, which may differ between runs over the same events.
let arrivalFiles = [
  "inputs.csv", "rejects.csv", "unknown_input.csv", "deliveries_daily", "restatements.csv",
  "breaks_history.csv", "summary_monthly.csv", "index.html",
  "datapackage.json", "SHA256SUMS",
]

/// The published files that do not depend on arrival; breaks without the times they were seen.
///
/// One run over everything lacks breaks that an earlier run raised and later input explained.
func timeless(
  _ program: Program, _ out: String = "reports", withResolved: Bool = true,
  withPlaces: Bool = false
) throws -> [String: Data] {
  var files = try program.published(in: out, except: arrivalFiles + ["breaks.csv"])
  // The runs of charges, and archive and line.
  let dropped = withPlaces ? 2 : 4
  for (file, data) in files where file.hasPrefix("charges/") {
    let rows = String(decoding: data, as: UTF8.self).split(separator: "\n").map {
      $0.split(separator: ",", omittingEmptySubsequences: false).dropLast(dropped)
        .joined(separator: ",")
    }
    files[file] = Data(rows.joined(separator: "\n").utf8)
  }
  let seen = ["first_seen_at", "last_seen_at", "age_days"]
  let rows = try program.rows("breaks.csv", in: out)
    .filter { withResolved || $0["status"] != "resolved" }
  let breaks = rows.map { row in
    row.filter { !seen.contains($0.key) }.sorted { $0.key < $1.key }
      .map { "\($0.key)=\($0.value)" }.joined(separator: "\n")
  }
  files["breaks.csv"] = Data(breaks.joined(separator: "\n\n").utf8)
  return files
}

/// The names of files that differ, for a readable failure.
func differences(_ left: [String: Data], _ right: [String: Data]) -> [String] {
  Set(left.keys).union(right.keys).filter { left[$0] != right[$0] }.sorted()
}
