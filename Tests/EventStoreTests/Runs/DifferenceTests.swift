import EventStore
import TestSupport
import Testing
import Domain

@Suite("Differences between two ledgers are counted by row")
struct DifferenceTests {
  private let folder: TemporaryFolder
  private let ledger: Ledger

  init() throws {
    folder = try TemporaryFolder()
    ledger = try Ledger.fresh(in: folder)
    try ledger.fold(Facts())
    for app in 1...30 {
      try ledger.rows(sql: "insert into fold_feed values (1, \(app), 5, 5, 5)") { _ in }
    }
  }

  private func differences(after sql: String...) throws -> [CheckResult] {
    let path = folder.path("again.sqlite")
    try ledger.copy(to: path)
    for change in sql { try ledger.rows(sql: change) { _ in } }
    return try ledger.differences(from: path).filter { $0.wrong > 0 }
  }

  @Test("A changed row counts once, and the first ones are named")
  func changed() throws {
    let found = try differences(after: "update fold_feed set newest_ms = 6")
    #expect(found.map(\.name) == ["fold_feed"])
    #expect(found.first?.count == 30 && found.first?.wrong == 30)
    #expect(found.first?.notes.count == 10)
    #expect(
      found.first?.notes.first == "provider 1, app 1 differs from the run's result")
  }

  @Test("A row that only one ledger has counts, too")
  func oneSided() throws {
    let found = try differences(
      after: "delete from fold_feed where app = 1", "insert into fold_feed values (1, 99, 5, 5, 5)")
    #expect(found.first?.wrong == 2)
    #expect(
      found.first?.notes == [
        "provider 1, app 99 differs from the run's result", "provider 1, app 1 is missing",
      ])
  }

  @Test("Different fold settings are one row, and extra invalidated keys do not count")
  func fold() throws {
    let found = try differences(
      after: "update fold set rules = 'others'", "insert into due values (1, 1)")
    #expect(found.map(\.name) == ["fold"])
    #expect(found.first?.notes == ["id 1 differs from the run's result"])
  }
}
