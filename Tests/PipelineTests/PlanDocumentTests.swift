import Foundation
import TestSupport
import Testing
import Domain

@testable import Pipeline

@Suite("What of a plan the ledger keeps")
struct PlanDocumentTests {
  @Test("Every key of the example is kept, or known to have no effect on the numbers")
  func everyKey() throws {
    let text = try Project.text(of: "subledger.example.yaml")
    let keys = Set(text.matches(of: /(?m)^(?:# )?([a-z_]+):/).map { String($0.1) })
    let without: Set = [
      "archives", "snapshots", "ledger", "out", "prices", "decisions", "jobs", "fail_on",
      "lock_wait", "min_age", "dry_run", "secrets", "log_format", "verbose", "quiet", "progress",
    ]
    let options = OptionName.allCases.filter { $0 != .config }.map(\.rawValue)
    #expect(keys.isSuperset(of: options), "\(Set(options).subtracting(keys))")
    #expect(ConfigurationDocument.kept.isDisjoint(with: without))
    #expect(keys == ConfigurationDocument.kept.union(without))
  }

  @Test("Settings come back, and neither paths nor secrets nor comments go in")
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
    let kept = try #require(try ConfigurationDocument.of(text))
    #expect(!String(decoding: kept, as: UTF8.self).contains("hidden"))
    let configuration = try Configuration.read(kept, named: "kept")
    #expect(configuration.source == kept)
    #expect(configuration.snapshotsAreComplete)
    #expect(configuration.renewalGap == .seconds(41 * 3600 + 600))
    #expect(configuration.options.timezone == "Europe/Berlin")
    #expect(configuration.options.archives == nil)
    #expect(configuration.materialityShare == Amount(micros: 2500))
    #expect(configuration.products == ["007": ["a", "b"]])
    #expect(configuration.eventNames == ["yes": .renewed])
    #expect(try ConfigurationDocument.of("ledger: only.sqlite\n") == nil)
    #expect(try ConfigurationDocument.of("") == nil)
  }

  @Test("What a configuration merges from other mappings is kept as if it stood there")
  func merged() throws {
    let text = """
      secrets:
        base: &base {renewal_gap: 41h10m, timezone: Europe/Berlin, ledger: hidden.sqlite}
        other: &other {timezone: Asia/Tokyo, materiality: 0.25%, snapshots: {complete: true}}
      <<: [*base, *other]
      renewal_gap: 10h
      """
    let kept = try #require(try ConfigurationDocument.of(text))
    #expect(
      String(decoding: kept, as: UTF8.self) == """
        materiality: 0.25%
        renewal_gap: 10h
        snapshots:
          complete: true
        timezone: Europe/Berlin

        """)
  }
}
