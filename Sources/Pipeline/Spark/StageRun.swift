import Domain
import EventStore
import Foundation
import Reconciliation
import Reports
import Subscriptions

extension RunPipeline {
  /// Runs a stage: reads rows from standard input and passes rows to `put`; the driver's file `job`
  /// has everything that the rows do not contain.
  public static func run(
    _ stage: Stage, job path: String, version: String, put: @escaping (String) throws -> Void
  ) throws {
    // Other added files are in the same folder.
    let place = URL(fileURLWithPath: path)
    let folder = place.deletingLastPathComponent()
    let text = try Data(contentsOf: place)
    guard var job = try? JSONDecoder().decode(StageJob.self, from: text),
      job.format == StageJob.formatVersion
    else {
      throw SubledgerError(
        .configuration,
        "cannot read the job of a stage, \(path.shown()): another version wrote it",
        hint: "use one version of the program for the run and its stages")
    }
    for name in ["config", "prices"] {
      job.flags[name] = job.flags[name]?.map { folder.appendingPathComponent($0).path }
    }
    let environment = ProcessInfo.processInfo.environment.filter {
      !$0.key.hasPrefix("SUBLEDGER_") || $0.key.hasPrefix("SUBLEDGER_SECRET_")
    }
    let given = GivenSettings(
      flags: job.flags, environment: environment.merging(job.environment) { $1 })
    try given.check()
    var pipeline = RunPipeline(
      given, now: job.now, version: version, log: silent, progress: { _ in }, stop: { 0 })
    if stage == .fold || stage == .reconcile { try pipeline.plan.readPrices() }
    let seed = folder.appendingPathComponent(job.ledger).path
    let work = StageWork(pipeline: pipeline, job: job, seed: seed, put: put)
    switch stage {
    case .normalise: try work.normalise()
    case .merge: try work.merge()
    case .fold: try work.fold()
    case .reconcile: try work.reconcile()
    }
  }
}

struct StageWork {
  let pipeline: RunPipeline
  let job: StageJob
  /// The path of a copy of the ledger that other processes read, too.
  let seed: String
  let put: (String) throws -> Void

  private var plan: Plan { pipeline.plan }

  private func put(_ kind: String, _ value: some Encodable) throws {
    try put("\(kind)\t\(try StageCoding.field(value))")
  }

  func normalise() throws {
    let ledger = try Ledger.open(path: seed, mode: .readOnly)
    let reader = ArchiveReader(
      rules: try plan.normaliseRules(), valueBytesMax: plan.valueBytesMax, retracted: [],
      knownContents: try ledger.contents(), formers: try ledger.formers())
    let erased = try ledger.erasedUsers()
    try forEachRow { fields, number in
      guard fields.count == 2, let file = Int(fields[0]),
        let listed = try? StageCoding.value(ListedFile.self, fields[1])
      else { throw malformedRow(number, "file and what is known of it are expected") }
      var writer = ArchiveRowWriter(file: file, erased: erased, put: put)
      try reader.read(listed.file(by: plan.sources)) { try writer.add($0) }
    }
  }

  func merge() throws {
    try withShard { archive, number, result in
      try put("result\t\(archive) \(number) \(result)")
    } body: { _, _ in
    }
  }

  func fold() throws {
    try withShard { ledger, rules in
      let pass = FoldPass(
        ledger: ledger, rules: rules, jobs: 1,
        charges: try pipeline.chargeRows(of: ledger, rules.fold))
      let charges = Pool<ChargePart>()
      func put(_ facts: Facts) throws {
        for piece in facts.pieces { try self.put("cells\t\(piece().text)") }
      }
      try pass.forEachPart {
        charges.put($0)
      } add: { part in
        try put(part.facts)
        try self.put("part", part)
        while let rows = charges.take() { try self.put("charges", rows) }
      } addRevenue: { revenue, _ in
        var facts = Facts()
        facts.revenue = revenue
        try put(facts)
      }
      while let rows = charges.take() { try self.put("charges", rows) }
      let across = CrossLineageChecks(ledger: ledger, rules: rules)
      try self.put("breaks", try across.breaksOfGroups())
      try self.put("linked", try ledger.linkedLineages())
    }
  }

  func reconcile() throws {
    try withShard { ledger, rules in
      let paid = try ledger.paidPrices()
      let rates = try ledger.rates()
      let across = CrossLineageChecks(ledger: ledger, rules: rules)
      try put("breaks", try across.chargeOutliers(ExchangeOutliers(rates), PriceOutliers(paid)))
      let known = try rules.knowing(PaidPrices(paid), rates, in: ledger) { try ledger.begun() }
      let outcome = try ReconcilePass(ledger: ledger, rules: known, proving: job.proving, jobs: 1)
        .compare()
      try put("result", outcome.result)
      for users in outcome.users { try put("users", users) }
    }
  }

  /// Passes a ledger with the events of the rows, and the common rules, to `body`.
  private func withShard(
    note: @escaping (Int32, Int32, UInt8) throws -> Void = { _, _, _ in },
    body: (Ledger, ReconciliationSettings) throws -> Void
  ) throws {
    let folder = try PrivateFolder()
    let path = folder.path("shard.sqlite")
    try FileManager.default.copyItem(atPath: seed, toPath: path)
    let ledger = try Ledger.open(path: path, mode: .readWrite)
    // Before the snapshots of other users are removed.
    let rules = try pipeline.reconcileRules(for: ledger)
    let shard = try Shard(ledger, note: note)
    try forEachRow { try shard.add($0, row: $1) }
    try shard.finish(keepsSnapshots: false)
    try body(ledger, rules)
  }
}
