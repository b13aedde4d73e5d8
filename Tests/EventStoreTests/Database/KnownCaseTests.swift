import EventStore
import TestSupport
import Testing
import Domain

@Suite("A row with an unknown value is damage, not a missing row")
struct KnownCaseTests {
  private let folder: TemporaryFolder
  private let ledger: Ledger

  init() throws {
    folder = try TemporaryFolder()
    ledger = try Ledger.fresh(in: folder)
    try ledger.ingest("a", [Line()])
    try ledger.fold(Facts())
    try ledger.record(AuditEntry(.prune))
    let asOf = Instant(seconds: 100)
    try ledger.ingest(
      "s",
      [Snapshot(provider: .qonversion, user: "user-1", capturedAt: asOf, entitlements: [])])
    let run = try ledger.beginRun(asOf: asOf, version: "1", options: "{}")
    var found = Break(id: "b", code: .late, provider: .qonversion)
    found.lineage = 1
    _ = try ledger.storeBreaks([found], asOf: asOf, run: run)
  }

  private typealias Reader = @Sendable (Ledger) throws -> Void

  /// Damage to a row, and a reader of the row.
  private struct Damage: Sendable {
    let sql: String
    let noun: String
    let read: Reader

    init(_ sql: String, _ noun: String, _ read: @escaping Reader) {
      (self.sql, self.noun, self.read) = (sql, noun, read)
    }
  }

  private static let readBreaks: Reader = { _ = try $0.standingBreaks() }
  private static let readDoubts: Reader = { _ = try $0.churnDoubts() }
  private static let readPrices: Reader = { _ = try $0.paidPrices() }
  private static let readBegun: Reader = { _ = try $0.begun() }
  private static let readLineages: Reader = { try $0.forEachLineage { _, _ in } }
  private static let readWatermarks: Reader = { _ = try $0.watermarks(asOf: .end) }
  private static let readArchives: Reader = { _ = try $0.archives() }
  private static let readFold: Reader = { _ = try $0.foldBasis() }

  private static let damages: [Damage] = [
    // A number greater than any symbol.
    Damage("insert into fold_feed values (1, 5000000000, 0, 0, 0)", "Int32", readFold),
    Damage("insert into churn_doubt values (1, 1, 1, 5000000000, 1, 0)", "Int32", readDoubts),
    Damage("insert into price_cell values (0, 1, 5000000000, 0, 0, 1, -1, 1)", "Int32", readPrices),
    Damage(
      "insert into movement_cell values (0, 1, 0, 1, 5000000000, 1, 1, 0)", "Int32", readBegun),
    Damage("insert into rate_cell values (5000000000, 1, x'')", "Int32") { _ = try $0.rates() },
    Damage("update lineage set app = 5000000000", "Int32", readLineages),
    Damage("update delivery_day set provider = 99", "Provider", readWatermarks),
    // A number whose low byte is a provider's is not a provider.
    Damage("update delivery_day set provider = 256 + provider", "Provider", readWatermarks),
    Damage("insert into fold_feed values (99, 0, 0, 0, 0)", "Provider", readFold),
    Damage("insert into churn_doubt values (1, 1, 99, 0, 1, 0)", "Provider", readDoubts),
    Damage("insert into churn_doubt values (1, 1, 1, 0, 99, 0)", "Store", readDoubts),
    Damage("insert into price_cell values (0, 99, 0, 0, 0, 1, -1, 1)", "Store", readPrices),
    Damage("insert into movement_cell values (0, 99, 0, 1, 0, 1, 1, 0)", "Provider", readBegun),
    Damage("update lineage set provider = 256 + provider", "Provider", readLineages),
    Damage("update lineage set environment = 256", "Environment", readLineages),
    Damage("update lineage set store = 99", "Store", readLineages),
    Damage("update snapshot set provider = 256 + provider", "Provider") {
      try $0.forEachUser(withSnapshotAsOf: Instant(seconds: 200)) { _ in }
    },
    Damage("update break_episode set provider = 256 + provider", "Provider", readBreaks),
    Damage("update break_episode set environment = 256", "Environment", readBreaks),
    Damage("update break_episode set store = 99", "Store", readBreaks),
    Damage("update break_episode set amount_basis = 256", "AmountBasis", readBreaks),
    Damage("update break_episode set code = 'odd'", "BreakCode", readBreaks),
    Damage("update break_episode set status = 'odd'", "BreakStatus", readBreaks),
    Damage("update break_episode set severity = 'odd'", "Severity", readBreaks),
    Damage("update archive set kind = 'odd'", "ArchiveKind", readArchives),
    Damage("update archive set status = 'odd'", "ArchiveStatus", readArchives),
    Damage("update act set what = 'odd'", "AuditAction") { _ = try $0.acts() },
  ]

  @Test("A damaged value is refused when it is read", arguments: damages.indices)
  func reported(index: Int) throws {
    let damage = Self.damages[index]
    try damage.read(ledger)
    try ledger.rows(sql: "pragma ignore_check_constraints = on") { _ in }
    try ledger.rows(sql: damage.sql) { _ in }
    let error = expect(.damagedInput) { try damage.read(ledger) }
    #expect(error?.message.hasSuffix("unknown \(damage.noun)") == true)
  }

  @Test("A ledger whose vocabulary has unknown numbers cannot be opened")
  func words() throws {
    try ledger.rows(sql: "update string set id = 5000000000 where value = 'USD'") { _ in }
    expect(.damagedInput) {
      try Ledger.open(path: folder.path("ledger.sqlite"), mode: .readOnly)
    }
  }

  @Test("Damaged bytes are reported by the kind of their content")
  func bytes() throws {
    try ledger.rows(sql: "insert into rate_cell values (1, 1, x'ff')") { _ in }
    let error = #expect(throws: SubledgerError.self) { _ = try ledger.rates() }
    #expect(error?.message.contains("an exchange rate") == true)
  }
}
