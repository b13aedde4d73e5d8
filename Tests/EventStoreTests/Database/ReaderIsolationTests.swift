import Foundation
import TestSupport
import Testing
import Domain

@testable import EventStore

@Suite("A reader sees one state of the ledger and blocks no one")
struct ReaderIsolationTests {
  private let folder: TemporaryFolder
  private let path: String
  private let writer: Ledger

  init() throws {
    folder = try TemporaryFolder()
    path = folder.path("ledger.sqlite")
    writer = try Ledger.open(path: path, mode: .readWrite)
    try writer.fold(facts(trials: 1))
  }

  private func facts(trials: Int64) -> Facts {
    var facts = Facts()
    var sums = TrialSums()
    sums.started = trials
    facts.trials[
      ProductDay(
        day: Day(number: 1),
        productKey: ProductKey(provider: .iaptic, app: 0, store: .appStore, product: 0))] = sums
    return facts
  }

  private func started(_ ledger: Ledger) throws -> Int64 {
    var sum: Int64 = 0
    try ledger.rows(sql: "select sum(started) from trial_cell") { sum = $0.number(0) }
    return sum
  }

  @Test("A reader does not see what a run writes meanwhile, and the run succeeds")
  func still() throws {
    let reader = try Ledger.open(path: path, mode: .readOnly)
    try reader.together("read") {
      #expect(try started(reader) == 1)
      try writer.fold(facts(trials: 2))
      #expect(try started(reader) == 1)
    }
    #expect(try started(reader) == 2)
  }

  @Test("A run that ends during a read is durable without emptying the log")
  func checkpoint() throws {
    let reader = try Ledger.open(path: path, mode: .readOnly)
    try writer.access("wait less") { try $0.execute("pragma busy_timeout = 50") }
    try reader.together("read") {
      #expect(try started(reader) == 1)
      try writer.fold(facts(trials: 3))
      try writer.checkpoint()
    }
    #expect(try started(reader) == 3)
  }

  @Test("The log can be checkpointed into the file during a read")
  func checkpointAhead() throws {
    try writer.fold(facts(trials: 4))
    let reader = try Ledger.open(path: path, mode: .readOnly)
    let fileAlone = folder.path("file-alone.sqlite")
    try reader.together("read") {
      Ledger.checkpointAhead(path: path)
      try FileManager.default.copyItem(atPath: path, toPath: fileAlone)
      #expect(try started(reader) == 4)
    }
    #expect(try started(Ledger.open(path: fileAlone, mode: .readOnly)) == 4)
  }

  @Test("A reader's own facts replace the ledger's, and vanish with the reader")
  func over() throws {
    let reader = try Ledger.open(path: path, mode: .readOnly)
    try reader.together("read") {
      try reader.layOver(facts(trials: 7))
      #expect(try started(reader) == 7)
    }
    #expect(try started(try Ledger.open(path: path, mode: .readOnly)) == 1)
  }
}
