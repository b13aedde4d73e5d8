import Foundation
import TestSupport
import Testing
import Domain

@testable import Simulation

/// A world written for a test, with accessors to its files.
final class World: Sendable {
  let folder: TemporaryFolder
  let summary: SimulationSummary
  let scenario: Scenario

  init(_ scenario: Scenario) throws {
    folder = try TemporaryFolder()
    self.scenario = scenario
    summary = try simulate(scenario, into: folder.path("world"))
  }

  /// A world in which every event arrives exactly once, without delay.
  static func calm(
    subscribers: Int = 320, by providers: [Provider] = [.qonversion]
  ) throws -> World {
    var scenario = Scenario(seed: 3, subscribers: subscribers, months: 14)
    scenario.lostShare = 0
    scenario.duplicatedShare = 0
    scenario.delayedShare = 0
    scenario.reorderedShare = 0
    scenario.archives = 3
    scenario.providers = providers
    return try shared(scenario)
  }

  /// The world of a scenario, written once for all tests that only read it.
  static func shared(_ scenario: Scenario) throws -> World {
    try written.value("\(scenario)") { try World(scenario) }
  }

  private static let written = MadeOnce<String, World>()
  private let simulated = MadeOnce<Int, [CustomerSimulation]>()

  var customers: [CustomerSimulation] {
    get throws {
      try simulated.value(summary.subscribers) {
        (0..<summary.subscribers).map {
          CustomerSimulator(of: $0, in: scenario).customer
        }
      }
    }
  }

  /// Paths of the files below a folder of the world, sorted.
  func files(_ name: String) throws -> [String] {
    let root = folder.path("world/\(name)")
    let names = try FileManager.default.subpathsOfDirectory(atPath: root).sorted()
    return names.map { "\(root)/\($0)" }.filter { $0.contains(".") }
  }

  /// The lines of a gzip file, unpacked by gzip and parsed by Foundation.
  func values(_ path: String) throws -> [[String: Any]] {
    try gzip("-dc", path).split(separator: UInt8(ascii: "\n")).map { line in
      let value = try JSONSerialization.jsonObject(with: Data(line))
      return try #require(value as? [String: Any])
    }
  }

  /// The bodies in all archives, without envelopes.
  func bodies() throws -> [[String: Any]] {
    try files("archives").flatMap { try values($0) }.map { value in
      guard let body = value["body"] else { return value }
      if let text = body as? String {
        let inner = try JSONSerialization.jsonObject(with: Data(text.utf8))
        return try #require(inner as? [String: Any])
      }
      return try #require(body as? [String: Any])
    }
  }

  /// The rows of a table of the truth, by column.
  func table(_ name: String) throws -> [[String: String]] {
    let text = try String(contentsOfFile: folder.path("world/truth/\(name)"), encoding: .utf8)
    let lines = text.split(separator: "\n").map {
      $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
    }
    return lines.dropFirst().map { Dictionary(uniqueKeysWithValues: zip(lines[0], $0)) }
  }
}

/// A printed amount in millionths.
func micros(_ text: String?) throws -> Int64 {
  let value = try #require(Decimal(string: text ?? ""))
  return NSDecimalNumber(decimal: value * 1_000_000).int64Value
}

extension Provider {
  /// All providers.
  static let simulated: [Provider] = [.qonversion, .flobuk, .iaptic, .purple]
}
