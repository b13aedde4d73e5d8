import Domain
import EventStore
import Foundation
import Logging
import Subscriptions
import Synchronization

/// A run on Apache Spark: events are stored in a lake, and processes of Spark's workers do the work
/// of this program's threads.
final class SparkEngine: Sendable {
  let plan: Plan
  private let log: Logger
  let stop: @Sendable () -> Int32
  /// The folder or URL of the lake.
  let lake: String
  /// Whether only Spark can list the lake.
  private let isRemote: Bool
  /// The folder for the files of runs other than events; below it, `exchange` has the files that
  /// the driver and the stages exchange in this run.
  private let room: String
  let exchange: String
  let scripts: SparkScripts
  private let program: String
  private let state = Mutex(State())

  private struct State {
    var shell: SparkShell?
    var lock: LedgerLock?
    var names = 0
    /// Paths of copies of the ledger with the events of archives after a number.
    var arrivals: [Int32: String] = [:]
  }

  init(_ plan: Plan, log: Logger, stop: @escaping @Sendable () -> Int32) {
    (self.plan, self.log, self.stop) = (plan, log, stop)
    let path = URL(fileURLWithPath: plan.ledger).path
    let place = (plan.lake ?? "\(plan.ledger).lake").replacing(/^file:(\/\/)?/, with: "")
    isRemote = place.contains("://")
    room = isRemote ? "\(path).lake" : URL(fileURLWithPath: place).path
    lake = isRemote ? place : room
    exchange = "\(room)/exchange-\(UUID().uuidString.lowercased())"
    let program = "subledger-\(UUID().uuidString.lowercased())"
    self.program = program
    let beside = "\(exchange)/\(program)"
    scripts = SparkScripts(lake: "\(lake)/events") { stage, job in
      // Workers of a cluster run the program among the added files, those of one machine anywhere.
      "p=./\(program); test -x $p || p=\(beside); exec $p stage \(stage.rawValue) --job "
        + "$(dirname $p)/\(job)"
    }
  }

  deinit {
    state.withLock { $0.shell = nil }
    try? files.removeItem(atPath: exchange)
  }

  private var files: FileManager { .default }

  func started() throws { try state.withLock { try start(&$0) } }

  private func start(_ state: inout State) throws {
    guard state.shell == nil else { return }
    do {
      try files.createDirectory(
        atPath: exchange, withIntermediateDirectories: true,
        attributes: [.posixPermissions: 0o700])
      state.lock = try LedgerLock.acquire(ledgerPath: "\(exchange)/driver", waitSeconds: 0)
      let own = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().path
      try files.createSymbolicLink(atPath: "\(exchange)/\(program)", withDestinationPath: own)
    } catch {
      throw SubledgerError(
        .cannotCreate, "cannot write to the lake \(room.shown()): \(error.cause)",
        hint: "check --lake, its permissions and its disk")
    }
    state.shell = try SparkShell(
      master: plan.master ?? "local[*]",
      settings: [
        "spark.sql.catalogImplementation": "in-memory", "spark.sql.ansi.enabled": "false",
        "spark.ui.enabled": "false",
        "spark.sql.warehouse.dir": "\(exchange)/warehouse",
        // Otherwise `dfs` asks a metastore.
        "spark.hadoop.hive.security.authorization.manager": "org.apache.hadoop.hive.ql.security"
          + ".authorization.StorageBasedAuthorizationProvider",
        // Otherwise Spark looks for a file in each part, and reports that it is missing.
        "spark.sql.streaming.fileStreamSink.ignoreMetadata": "true",
        "spark.sql.shuffle.partitions": "\(plan.jobs * 2)",
      ], folder: exchange, log: "\(room)/spark.log", stop: stop)
  }

  /// Runs statements, which can use the `travelling` files, and returns the lines that they print.
  @discardableResult
  func run(_ statements: [String], with travelling: [String] = []) throws -> [String] {
    let added = travelling.isEmpty ? [] : [program] + travelling
    let all = added.map { "ADD FILE '\(exchange)/\($0)'" } + statements
    return try state.withLock { state in
      try start(&state)
      return try state.shell?.run(all) ?? []
    }
  }

  /// Returns the rows that the statements of `script` write into a new folder.
  func rows(
    _ kind: String, with travelling: [String] = [], _ script: (String) throws -> [String]
  ) throws -> StageRows {
    let rows = StageRows(folder: "\(exchange)/\(newName(kind))")
    try run(try script(rows.folder), with: travelling)
    return rows
  }

  /// Returns the rows that the processes of a stage write for the `sets` of users from `place`.
  func rows(
    of stage: Stage, in sets: [String], _ ledger: Ledger, since archive: Int32? = nil,
    proving: Set<Int64> = []
  ) throws -> StageRows {
    let job = try job(ledger, proving: proving)
    return try rows(stage.rawValue, with: job) {
      sets + scripts.stage(stage, job: job[0], since: archive, into: $0)
    }
  }

  func newName(_ kind: String) -> String {
    state.withLock { state in
      state.names += 1
      return "\(kind)-\(state.names)"
    }
  }

  /// Writes rows to a new file of the exchange, and returns its path.
  func write(_ rows: [String] = [], as kind: String) throws -> String {
    try write(as: kind) { put in for row in rows { try put(row) } }
  }

  /// Writes the rows that `body` passes to its parameter.
  func write(
    as kind: String, _ body: (@escaping (String) throws -> Void) throws -> Void
  ) throws -> String {
    try started()
    let file = try RowFile(path: "\(exchange)/\(newName(kind)).tsv")
    try body(file.put)
    _ = try file.close()
    return file.path
  }

  /// Copies `ledger` and writes the other input of a stage besides its rows; returns the names of
  /// all files to add, the job first.
  func job(_ ledger: Ledger, proving: Set<Int64> = []) throws -> [String] {
    try started()
    let (seed, name) = (newName("ledger") + ".sqlite", newName("job") + ".json")
    _ = try ledger.backup(to: "\(exchange)/\(seed)", stop: stop)
    var flags = plan.flags
    var names = [name, seed]
    for (setting, path) in [
      ("config", plan.configuration.path), ("prices", plan.configuration.job.prices?.path),
    ] {
      guard let path else { continue }
      let copy = newName(setting) + "." + URL(fileURLWithPath: path).pathExtension
      try files.copyItem(atPath: path, toPath: "\(exchange)/\(copy)")
      flags[setting] = [copy]
      names.append(copy)
    }
    let settings = plan.environment.filter {
      $0.key.hasPrefix("SUBLEDGER_") && !$0.key.hasPrefix("SUBLEDGER_SECRET_")
    }
    let job = StageJob(
      flags: flags, environment: settings, now: plan.now, ledger: seed, proving: proving)
    try JSONEncoder().encode(job).write(to: URL(fileURLWithPath: "\(exchange)/\(name)"))
    return names
  }

  /// Returns the name of a new part of the lake, which contains its number of buckets, and records
  /// it in `ledgers`.
  func newPart(of ledgers: Ledger...) throws -> String {
    let part = "\(SparkScripts.buckets)-\(UUID().uuidString.lowercased())"
    for ledger in ledgers { try ledger.note(parts: [part, part.again]) }
    return part
  }

  private func parts() throws -> Set<String> {
    let lines: [String]
    do {
      lines =
        isRemote
        ? try run(["dfs -ls \(scripts.lake)"])
        : try files.contentsOfDirectory(atPath: scripts.lake)
    } catch let error as SubledgerError where error.message.contains("No such file") {
      return []
    } catch CocoaError.fileReadNoSuchFile {
      return []
    }
    return Set(
      lines.compactMap { line in
        let name = line.split(separator: "/").last ?? ""
        return name.hasPrefix("part=") ? String(name.dropFirst(5)) : nil
      })
  }

  /// Removes the leftovers of this ledger's interrupted runs from the lake, and parts that were
  /// replaced.
  ///
  /// Each run repeats this: the Spark of a driver that died may continue to write.
  func removeLeftovers(of ledger: Ledger) throws {
    for part in try parts().intersection(try ledger.lakeLeftovers()) {
      let place = "\(scripts.lake)/part=\(part)"
      do {
        if isRemote {
          try run(["dfs -rm -r -f -skipTrash \(place)"])
        } else {
          try files.removeItem(atPath: place)
        }
      } catch {
        log.warning(
          "cannot remove \(place.shown()), which no longer holds events: \(error.cause)",
          metadata: ["code": "lake_leftover"])
      }
    }
    for name in (try? files.contentsOfDirectory(atPath: room)) ?? []
    where name.hasPrefix("exchange-") {
      let lock = try? LedgerLock.acquire(ledgerPath: "\(room)/\(name)/driver", waitSeconds: 0)
      // Another active driver may hold the lock.
      if lock != nil { try? files.removeItem(atPath: "\(room)/\(name)") }
    }
  }

  /// Returns statements that open the events of some archives, and the users with snapshots in a
  /// file, both only of `touched` keys unless it is nil; the views stay.
  func open(
    _ archives: [LakeArchive], users: String? = nil, touched: TouchedKeys? = nil
  ) throws -> [String] {
    let parts = Set(archives.map(\.part))
    if let part = parts.subtracting(try self.parts()).min() {
      throw SubledgerError(
        .noInput, "cannot read events of the ledger: the lake \(lake.shown()) lacks part \(part)",
        hint: "give the folder of the lake as --lake, and make sure that nothing else removes "
          + "files there")
    }
    let taken = try write(
      archives.map { "\($0.archive)\t\($0.part)\t\($0.file)\t\($0.attempt)\t\($0.published)" },
      as: "archives")
    return scripts.open(
      parts: parts, archives: taken, users: try users ?? write(as: "users"), touched: touched)
  }

  /// Finds which users belong together, from the events of some archives and the snapshots of users
  /// in a file; returns statements that open the view of events by these sets.
  func place(_ archives: [LakeArchive], users: String? = nil) throws -> [String] {
    let edges = try rows("edges") { try open(archives, users: users) + scripts.edges(into: $0) }
    var pairs: [(one: Int64, other: Int64)] = []
    try edges.forEachRow { row in
      guard row.count == 2, let one = Int64(row[0]), let other = Int64(row[1]) else { return }
      pairs.append((one, other))
    }
    let keys = Set(pairs.flatMap { [$0.one, $0.other] }).sorted()
    let places = Dictionary(uniqueKeysWithValues: zip(keys, keys.indices))
    var sets = DisjointSets(count: keys.count)
    for (one, other) in pairs {
      if let one = places[one], let other = places[other] { sets.join(one, other) }
    }
    let roots = try write(as: "roots") { put in
      for (place, key) in keys.enumerated() where sets.root(of: place) != place {
        try put("\(key)\t\(keys[sets.root(of: place)])")
      }
    }
    return scripts.place(roots: roots)
  }

  /// Returns a copy of the ledger with the events after `archive`, created once for each number.
  @Sendable func arrivals(of ledger: Ledger, since archive: Int32) throws -> Ledger {
    if let path = state.withLock({ $0.arrivals[archive] }) {
      return try Ledger.open(path: path, mode: .readOnly)
    }
    let made = try news(of: ledger, try ledger.lakeArchives(), since: archive) ?? ledger
    let path = made.path
    state.withLock { $0.arrivals[archive] = path }
    return made
  }
}
