import Foundation
import TestSupport
import Testing
import Domain

@testable import Simulation

@Suite struct UnchangedTests {
  @Test("Qonversion alone writes the same world as in all versions")
  func qonversionAlone() throws {
    let world = try World(Scenario(seed: 7, subscribers: 120, months: 8))
    #expect(try world.files("archives").count > 200)
    // As recorded when the truth began to list payments.
    #expect(try fingerprint(world) == -2_725_479_744_910_127_626)
  }

  @Test("Four providers with every fault write the same world as in all versions")
  func everyProvider() throws {
    var scenario = Scenario(seed: 7, subscribers: 120, months: 8)
    scenario.providers = Provider.allCases
    scenario.archives = 3
    for fault in FeedFault.allCases { scenario.faultShares[fault] = 50_000 }
    let written = try fingerprint(World(scenario))
    // As recorded when the truth began to list the break that a fault must raise.
    #expect(written == -8_951_198_613_694_556_889)
  }

  /// A fingerprint of all files except the configuration, unpacked.
  private func fingerprint(_ world: World) throws -> Int64 {
    var fingerprint = Fingerprint()
    for folder in ["archives", "snapshots", "truth"] {
      for path in try world.files(folder) {
        let content =
          path.hasSuffix(".gz") ? try gzip("-dc", path) : try Data(contentsOf: URL(filePath: path))
        fingerprint.combine(String(path.dropFirst(world.folder.path("world").count)))
        content.withUnsafeBytes { fingerprint.combine($0) }
      }
    }
    return fingerprint.value
  }
}
