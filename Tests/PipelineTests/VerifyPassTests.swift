import TestSupport
import Testing
import Domain

@testable import EventStore
@testable import Pipeline

@Suite("Verify reports everything that it cannot check")
struct VerifyPassTests {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test("A failed read is an error, unless known damage explains it")
  func unreadable() throws {
    let pipeline = RunPipeline(
      GivenSettings(flags: [:], environment: [:]), now: Instant(seconds: 0), version: "1",
      log: RunPipeline.silent, progress: { _ in }, stop: { 0 })
    func count(isWhole: Bool) throws -> Int? {
      try pipeline.read(folder.path("absent.sqlite"), isWhole: isWhole) { try $0.archives().count }
    }
    #expect(throws: SubledgerError.self) { try count(isWhole: true) }
    #expect(try count(isWhole: false) == nil)
  }
}
