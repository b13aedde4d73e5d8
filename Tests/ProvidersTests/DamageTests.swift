import TestSupport
import Testing
import Domain
import Formats

@testable import Providers

@Suite("Damaged archives")
struct DamageTests {
  @Test("Whatever bytes change, every value is counted once", arguments: 0..<20)
  func everyValueCounts(seed: Int) {
    var dice = SeededNumbers(seed: UInt64(seed))
    let lines = EnvelopeTests.lines.map(\.line) + [Body.upgrade.line, Body.of2020.line, "{}"]
    let marks = Array(#"{}[]":,\0e-nul"#.utf8) + [0, 10, 0xef, 0xff]
    var normaliser = Normaliser(rules: NormaliserSettings())
    let reader = SnapshotReader()
    for _ in 0..<50 {
      var bytes = Array(lines.shuffled(using: &dice).prefix(4).joined(separator: "\n").utf8)
      for _ in 0..<Int.random(in: 1...6, using: &dice) {
        let place = Int.random(in: 0..<bytes.count, using: &dice)
        bytes[place] = marks[Int.random(in: 0..<marks.count, using: &dice)]
      }
      var batch = EventBatch()
      bytes.withUnsafeBytes {
        normaliser.add(.lines($0, firstLine: 1, firstOffset: 0), to: &batch)
      }
      let skipped = batch.skipped.values.reduce(0, +)
      #expect(batch.lines == Int64(batch.events.count + batch.rejects.count) + skipped)
      #expect(batch.texts.count == batch.events.count && batch.values.count == batch.events.count)
      #expect(zip(batch.values, batch.values.dropFirst()).allSatisfy { $0 < $1 })
      var result = SnapshotBatch()
      bytes.withUnsafeBytes {
        reader.read(
          .lines($0, firstLine: 1, firstOffset: 0),
          capturedAtDefault: Instant(seconds: 1_795_132_800), to: &result)
      }
      #expect(result.lines == Int64(result.snapshots.count + result.rejects.count))
      #expect(result.lines == batch.lines)
    }
  }
}
