import Domain
import Foundation
import TestSupport
import Testing
import Yams

@testable import Pipeline

@Suite("The schema of the configuration accepts what the program accepts")
struct SettingsSchemaTests {
  private let schema: [String: Any]

  init() throws {
    let object = try JSONSerialization.jsonObject(with: Data(Setting.schema.utf8))
    schema = try #require(object as? [String: Any])
  }

  @Test("The published schema is the one that the program writes")
  func committed() throws {
    let committed = try Project.text(of: "docs/subledger.schema.json")
    #expect(committed == Setting.schema, "make settings writes it")
  }

  @Test("The sample configuration and the example configuration are accepted")
  func accepted() throws {
    let sample = try Project.text(of: "sample-data/subledger.yaml")
    let example = NewConfiguration.example.split(separator: "\n")
      .map { $0.wholeMatch(of: /#([a-z]| {2}).*/) == nil ? $0 : $0.dropFirst() }
      .joined(separator: "\n")
    for text in [sample, example] {
      let node = try #require(try Yams.compose(yaml: text))
      #expect(problems(of: node, schema, at: "") == [])
    }
  }

  @Test(
    "Wrong settings are refused by schema and program",
    arguments: [
      "outt: a", "limits: {values: 1}", "lock_wait: soon", "lock_wait: -1", "amount_decimals: 7",
      "fail_on: Open", "renewal_gap: soon", "materiality: 2", "materiality: a%", "xlsx: 3",
      "products: {a: {id: b}}", "delivery_window: {apple: 1h}", "secrets: {iaptic: {url: b}}",
      "snapshots: {complete: true, path: a}", "authority: [apple]", "as_of: today", "out: [a]",
    ])
  func refused(text: String) throws {
    let node = try #require(try Yams.compose(yaml: text))
    #expect(problems(of: node, schema, at: "") != [])
    #expect(throws: SubledgerError.self) {
      try Configuration.read(Array(text.utf8), named: "c.yaml")
    }
  }

  @Test(
    "The nearest correct settings are accepted by schema and program",
    arguments: [
      "out: a", "limits: {value_bytes: 1}", "lock_wait: 0", "amount_decimals: 6", "fail_on: open",
      "renewal_gap: 24h", "renewal_gap: 3600", "materiality: 1", "materiality: 0.5%",
      "materiality: 200%", "xlsx: true", "products: {a: {ids: b, period: P1M}}",
      "delivery_window: {iaptic: 1h}", "secrets: {iaptic: [{env: B}, {file: c}, \"d\"]}",
      "snapshots: {complete: true, paths: a}", "snapshots: [a]", "authority: [iaptic]",
      "as_of: 2026-11-20", "freshness_max: {iaptic: {app: 20d}}", "history_begins: 2025-01-01",
      "delivery_retries: {iaptic: []}", "event_names: {mine: renewed}",
    ])
  func taken(text: String) throws {
    let node = try #require(try Yams.compose(yaml: text))
    #expect(problems(of: node, schema, at: "") == [])
    #expect(throws: Never.self) { try Configuration.read(Array(text.utf8), named: "c.yaml") }
  }

  /// The parts of `node` that the schema does not allow, by its draft 7 keywords.
  private func problems(of node: Node, _ schema: [String: Any], at place: String) -> [String] {
    if let choices = schema["anyOf"] as? [[String: Any]] {
      return choices.contains { problems(of: node, $0, at: place).isEmpty } ? [] : [place]
    }
    switch node {
    case .mapping(let members):
      guard (schema["type"] as? String) == "object" else { return ["\(place): a mapping"] }
      let known = schema["properties"] as? [String: [String: Any]] ?? [:]
      return members.flatMap { key, value in
        let name = key.string ?? ""
        let inner = known[name] ?? schema["additionalProperties"] as? [String: Any]
        return inner.map { problems(of: value, $0, at: "\(place).\(name)") }
          ?? ["\(place).\(name): unknown"]
      }
    case .sequence(let items):
      guard (schema["type"] as? String) == "array",
        let inner = schema["items"] as? [String: Any]
      else { return ["\(place): a list"] }
      return items.flatMap { problems(of: $0, inner, at: place) }
    case .scalar(let scalar):
      return isAllowed(scalar.string, quoted: scalar.style != .plain, by: schema) ? [] : [place]
    case .alias: return [place]
    }
  }

  private func isAllowed(_ text: String, quoted: Bool, by schema: [String: Any]) -> Bool {
    if let choices = schema["enum"] as? [String] { return choices.contains(text) }
    let types = schema["type"] as? [String] ?? [schema["type"] as? String ?? ""]
    let isNumber = types.contains("number") || types.contains("integer")
    if isNumber, !quoted, let number = Double(text) {
      let low = (schema["minimum"] as? NSNumber)?.doubleValue ?? -.infinity
      let high = (schema["maximum"] as? NSNumber)?.doubleValue ?? .infinity
      return low <= number && number <= high
    }
    if types.contains("boolean") { return ["true", "false"].contains(text) }
    guard types.contains("string") else { return false }
    return (schema["pattern"] as? String).map {
      text.range(of: $0, options: .regularExpression) != nil
    }
      ?? true
  }
}
