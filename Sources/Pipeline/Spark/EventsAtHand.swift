import Domain
import EventStore

// Work that needs all events uses a copy of the ledger, to which the events are added.

extension SparkEngine {
  /// Creates a copy of the ledger for this run, without events.
  func copy(of ledger: Ledger) throws -> Ledger {
    try started()
    return try ledger.copied(to: "\(exchange)/\(newName("copy")).sqlite", stop: stop)
  }

  /// Adds events to `copy`, a copy of the ledger, and passes their results to `note`.
  private func fill(
    _ copy: Ledger, with rows: StageRows,
    note: @escaping (Int32, Int32, UInt8) throws -> Void = { _, _, _ in }
  ) throws {
    let shard = try Shard(copy, note: note)
    var number = 0
    try rows.forEachRow { row in
      number += 1
      try shard.add(row, row: number)
    }
    try shard.finish(keepsSnapshots: true)
  }

  /// Returns a copy of the ledger with the changed events, and everything linked to them: events of
  /// archives after `archive`, of the lineages and users in `keys`, and of users of some providers
  /// without a snapshot.
  ///
  /// Nil if the changed events have more than `max` lineages, or all events more than four times as
  /// many. Of the other events, Spark reads only keys, and it does not shuffle them.
  func news(
    of ledger: Ledger, _ archives: [LakeArchive], users: String? = nil, since archive: Int32,
    keys: Set<Int64> = [], unseen: Set<Provider> = [], max: Int = .max,
    note: @escaping (Int32, Int32, UInt8) throws -> Void = { _, _, _ in }
  ) throws -> Ledger? {
    let changed = try write(keys.map(String.init), as: "changed")
    func touch(_ statements: (String) throws -> [String]) throws -> TouchedKeys {
      try TouchedKeys(in: self.rows("touched", statements))
    }
    var (touched, before) = (
      try touch { folder in
        try open(archives, users: users)
          + scripts.touch(
            since: archive, keys: changed, unseen: unseen.map { Int($0.rawValue) }, into: folder)
      }, -1
    )
    while touched.keys > before {
      guard touched.lineages / (before < 0 ? 1 : 4) <= max else { return nil }
      before = touched.keys
      touched = try touch { scripts.grow(touched.folder, into: $0) }
    }
    let rows = try self.rows("news") {
      try open(archives, users: users, touched: touched) + scripts.events(into: $0)
    }
    let copy = try copy(of: ledger)
    try fill(copy, with: rows, note: note)
    return copy
  }

  /// Turns `copy`, a copy of the ledger, into one that stores all events itself.
  func fill(_ copy: Ledger) throws {
    let rows = try self.rows("events") {
      try open(try copy.lakeArchives()) + scripts.events(into: $0)
    }
    try fill(copy, with: rows)
    try copy.leaveLake()
  }

  /// Moves all events of `copy`, a copy of `ledger`, to a new part of the lake.
  func empty(_ copy: Ledger, of ledger: Ledger) throws {
    let part = try newPart(of: ledger, copy)
    let rows = try write(as: "moved") { put in
      var writer = ArchiveRowWriter(file: 0, put: put)
      try copy.forEachVersion { batch in
        writer.file = Int(batch.events[0].place.archive)
        try writer.add(eventsOf: batch)
      }
    }
    try run(scripts.keep(rows: rows, as: part))
    try copy.leaveEvents(to: part)
  }
}

extension RunPipeline {
  /// Refuses a ledger of the other engine.
  func requireEngine(of ledger: Ledger) throws {
    guard let isOnLake = try ledger.isOnLake(), isOnLake != (spark != nil) else { return }
    let (own, other) = isOnLake ? ("spark", "embedded") : ("embedded", "spark")
    throw SubledgerError(
      .usage,
      "cannot use the ledger \(plan.ledger.shown()) with the engine \(other): its events are "
        + "stored " + (isOnLake ? "in a lake" : "in the ledger itself"),
      hint: "give --engine \(own), or `subledger move --engine \(other)` first")
  }

  /// Calls `body` with this run or, if events are stored in a lake, with a run on a copy of the
  /// ledger that contains them.
  func holdingEvents<Value>(_ body: (RunPipeline) throws -> Value) throws -> Value {
    guard mayExist(plan.ledger),
      let ledger = try? Ledger.open(path: plan.ledger, mode: .readOnly),
      (try? ledger.isOnLake()) == true
    else { return try body(self) }
    let engine = engine()
    let copy = try engine.copy(of: ledger)
    try engine.fill(copy)
    var copied = plan
    copied.ledger = copy.path
    copied.engine = .embedded
    return try withExtendedLifetime(engine) { try body(following(copied)) }
  }

  /// Passes a copy of the ledger with the events, and the plan for it, to `work`.
  func withCopy<Value>(_ work: (Ledger, Plan) throws -> Value) throws -> Value {
    try holdingEvents { holder in
      var copied = holder.plan
      copied.isDryRun = true
      return try following(copied).withLedger { try work($0, copied) }
    }
  }

  /// Runs work that needs all events on the ledger or, with a lake, on a copy with them, which then
  /// replaces the ledger's content.
  func changingEvents<Value>(
    of ledger: Ledger, _ work: (Ledger) throws -> Value
  ) throws -> Value {
    guard try ledger.isOnLake() == true else { return try work(ledger) }
    let engine = engine()
    let copy = try engine.copy(of: ledger)
    try engine.fill(copy)
    let value = try work(copy)
    guard !plan.isDryRun else { return value }
    try engine.empty(copy, of: ledger)
    try ledger.replace(by: copy, stop: stop)
    try engine.removeLeftovers(of: ledger)
    return value
  }

  /// Like `onLedger`, for work that needs all events.
  func onEvents(to action: String, _ work: (Ledger) throws -> String) throws -> String {
    try onLedger(to: action) { try changingEvents(of: $0, work) }
  }

  /// Adds events that are stored in a lake to a copy of the ledger.
  func bringEvents(to path: String) throws {
    let copy = try Ledger.open(path: path, mode: .readWrite)
    if try copy.isOnLake() == true { try engine().fill(copy) }
  }

  /// Moves events to the storage of the plan's engine, and returns a message about it.
  public func move() throws -> String {
    try onLedger(to: "move the events") { ledger in
      let engine = engine()
      guard let isOnLake = try ledger.isOnLake(), isOnLake != (plan.engine == .spark) else {
        try engine.removeLeftovers(of: ledger)
        return "the events of \(plan.ledger.shown()) are already there"
      }
      let copy = try engine.copy(of: ledger)
      try isOnLake ? engine.fill(copy) : engine.empty(copy, of: ledger)
      try copy.vacuum()
      try ledger.replace(by: copy, stop: stop)
      try engine.removeLeftovers(of: ledger)
      return "the events of \(plan.ledger.shown()) are stored in "
        + (isOnLake ? "the ledger itself" : "the lake \(engine.lake.shown())")
    }
  }

  private func engine() -> SparkEngine { spark ?? SparkEngine(plan, log: log, stop: stop) }
}
