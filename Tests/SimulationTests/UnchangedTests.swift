import Foundation
import TestSupport
import Testing
import Domain

@testable import Simulation

@Suite struct UnchangedTests {
  @Test("Qonversion alone writes the same world as it always did")
  func qonversionAlone() throws {
    let world = try World(Scenario(seed: 7, subscribers: 120, months: 8))
    var fingerprint = Fingerprint()
    var count = 0
    for folder in ["archives", "snapshots", "truth"] {
      for path in try world.files(folder) {
        let content =
          path.hasSuffix(".gz") ? try gzip("-dc", path) : try Data(contentsOf: URL(filePath: path))
        fingerprint.combine(String(path.dropFirst(world.folder.path("world").count)))
        content.withUnsafeBytes { fingerprint.combine($0) }
        count += 1
      }
    }
    #expect(count == 226)
    // As recorded when the truth named what was paid.
    #expect(fingerprint.value == -2_725_479_744_910_127_626)
  }
}
