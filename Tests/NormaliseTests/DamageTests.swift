import Testing
import Vocabulary

@testable import Normalise

@Suite("Damaged archives")
struct DamageTests {
  /// SplitMix64 (Sebastiano Vigna, public domain), so that a failure can be repeated.
  private struct Dice: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
      state &+= 0x9e37_79b9_7f4a_7c15
      var mixed = (state ^ state >> 30) &* 0xbf58_476d_1ce4_e5b9
      mixed = (mixed ^ mixed >> 27) &* 0x94d0_49bb_1331_11eb
      return mixed ^ mixed >> 31
    }
  }

  @Test("Whatever bytes turn, every value is accounted for once", arguments: 0..<20)
  func everyValueCounts(seed: Int) {
    var dice = Dice(state: UInt64(seed))
    let lines = EnvelopeTests.lines.map(\.line) + [Body.upgrade.line, Body.of2020.line, "{}"]
    let marks = Array(#"{}[]":,\0e-nul"#.utf8) + [0, 10, 0xef, 0xff]
    for _ in 0..<50 {
      var bytes = Array(lines.shuffled(using: &dice).prefix(4).joined(separator: "\n").utf8)
      for _ in 0..<Int.random(in: 1...6, using: &dice) {
        let place = Int.random(in: 0..<bytes.count, using: &dice)
        bytes[place] = marks[Int.random(in: 0..<marks.count, using: &dice)]
      }
      var batch = EventBatch()
      var normaliser = Normaliser(rules: NormaliseRules())
      bytes.withUnsafeBytes { normaliser.add($0, firstLine: 1, firstOffset: 0, to: &batch) }
      let skipped = batch.skipped.values.reduce(0, +)
      #expect(batch.lines == Int64(batch.events.count + batch.rejects.count) + skipped)
      #expect(batch.texts.count == batch.events.count && batch.values.count == batch.events.count)
      #expect(zip(batch.values, batch.values.dropFirst()).allSatisfy { $0 < $1 })
      var result = SnapshotBatch()
      var reader = SnapshotReader()
      bytes.withUnsafeBytes {
        reader.read(
          $0, firstLine: 1, firstOffset: 0, fileName: "2026-11-20", capturedAtDefault: nil,
          to: &result)
      }
      #expect(result.lines == Int64(result.snapshots.count + result.rejects.count))
      #expect(result.lines == batch.lines)
    }
  }
}
