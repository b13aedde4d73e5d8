import Foundation
import TestSupport
import Testing
import Domain
import Providers

@testable import Pipeline

@Suite("The parts of a plan that the ledger keeps")
struct PlanDocumentTests {
  @Test("Every key of the example is kept, or listed as having no effect on the numbers")
  func everyKey() throws {
    let text = try Project.text(of: "subledger.example.yaml")
    let keys = Set(text.matches(of: /(?m)^#?([a-z_]+):/).map { String($0.1) })
    let without: Set = [
      "archives", "snapshots", "ledger", "out", "prices", "decisions", "reports_dir", "jobs",
      "fail_on", "lock_wait", "min_age", "adopt", "dry_run", "secrets", "log_format", "verbose",
      "quiet", "progress", "summary", "metrics", "readers", "notify_url",
      "fetch", "engine", "master", "lake",
    ]
    func names(_ settings: [Setting]) -> Set<String> {
      Set(settings.map { String($0.name.prefix { $0 != "." }) })
    }
    #expect(keys == names(Setting.all))
    #expect(keys == names(Setting.all.filter(\.isKept)).union(without))
    #expect(
      names(Setting.all.filter { $0.isKept && !$0.name.hasPrefix("snapshots.") })
        .isDisjoint(with: without))
  }

  @Test("Settings are read back, and paths, secrets and comments are not stored")
  func settings() throws {
    let text = """
      # the hidden comment
      archives: [/hidden]
      ledger: hidden.sqlite
      prices: hidden.csv
      secrets: {iaptic: hidden}
      snapshots: {paths: [hidden], complete: true}
      renewal_gap: 41h10m
      timezone: Europe/Berlin
      materiality: 0.25%
      products: {"007": {ids: [a, b], period: P1Y}}
      event_names: {"yes": renewed}
      """
    let kept = try #require(try document(of: text))
    #expect(!String(decoding: kept, as: UTF8.self).contains("hidden"))
    let configuration = try Configuration.read(kept, named: "kept")
    #expect(configuration.source == kept)
    #expect(configuration.snapshotsAreComplete)
    #expect(configuration.renewalGap == .seconds(41 * 3600 + 600))
    #expect(configuration.timezone.identifier == "Europe/Berlin")
    #expect(configuration.job.archives.isEmpty)
    #expect(configuration.materialityShare == Amount(micros: 2500))
    #expect(configuration.products == ["007": ["a", "b"]])
    #expect(configuration.reading.eventNames == ["yes": .renewed])
    #expect(try document(of: "ledger: only.sqlite\n") == nil)
    #expect(try document(of: "") == nil)
  }

  private func document(of text: String) throws -> [UInt8]? {
    try Configuration.read(Array(text.utf8), named: "c.yaml").source
  }
}
