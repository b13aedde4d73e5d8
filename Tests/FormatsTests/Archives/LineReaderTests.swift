import TestSupport
import Testing

@testable import Formats

@Test("The lines are the same for every buffer size", arguments: [1, 2, 3, 7, 31, 64, 1000])
func bufferSizes(size: Int) throws {
  let text = (0..<60).map { number in
    String(repeating: "\n", count: number % 3)
      + "{\"n\":\"\(String(repeating: "x", count: number))\"}\r\n"
  }.joined()
  let bytes = Array(text.utf8)
  for archive in [bytes, gzip(bytes), gzip(gzip(bytes))] {
    let reading = try Reading(archive, inflated: bytes, sizes: LineSizes(buffer: size))
    #expect(reading.bytes == bytes)
    #expect(reading.oversized.isEmpty)
  }
}

@Test("Values glued on one endless line are read completely", arguments: [1, 5, 64, 4096])
func gluedLine(buffer: Int) throws {
  let values = (0..<400).map { "{\"n\":\($0),\"s\":\"}{\\\"[\",\"a\":[{}]}" } + ["\"x{\"", "[1]"]
  let bytes = Array(("{}\n" + values.joined() + "\n{}").utf8)
  let folded = LineSizes(buffer: buffer, longLine: 100, valueMax: 1000)
  let reading = try Reading(gzip(bytes), inflated: bytes, sizes: folded)
  #expect(reading.bytes == bytes)
  #expect(reading.oversized.isEmpty)
  #expect((reading.chunkSizes.max() ?? 0) < 100 + 2 * buffer + 40)
}

@Test("A glued line of 3 MB is read in chunks of complete values")
func gluedMegabytes() throws {
  let value = "{\"text\":\"\(String(repeating: "x", count: 1000))\"}"
  let bytes = Array(String(repeating: value, count: 3000).utf8)
  let reading = try Reading(bytes)
  #expect(reading.bytes == bytes)
  #expect(reading.chunkSizes.count > 1)
  #expect(reading.chunkSizes.allSatisfy { $0.isMultiple(of: value.utf8.count) })
}

@Test(
  "Values glued after a long value are read as complete values, on its line and the next",
  arguments: [1, 16, 64], ["", "\n", "\n{}\n"])
func gluedBehindLongValue(buffer: Int, end: String) throws {
  let long = "[\"\(String(repeating: "x", count: 900))\"]"
  let small = (0..<100).map { "{\"n\":\($0),\"s\":\"}{\"}" }
  let bytes = Array("{}\n\(long)\(small.joined())\(end)".utf8)
  let sizes = LineSizes(buffer: buffer, longLine: 100, valueMax: 4000)
  let reading = try Reading(gzip(bytes), inflated: bytes, sizes: sizes)
  #expect(reading.bytes == bytes)
  #expect(reading.chunkSizes.count { $0 > 2 * buffer + 40 } == 1)
}

@Test("One value of 3 MB is read in one piece")
func longValue() throws {
  let bytes = Array("{}\n[\"\(String(repeating: "x", count: 3_000_000))\"]\n{}\n".utf8)
  let reading = try Reading(bytes, inflated: bytes)
  #expect(reading.bytes == bytes)
  #expect((reading.chunkSizes.max() ?? 0) >= 3_000_000)
}

@Test("A value is too long from one byte above the limit", arguments: [1, 9, 100, 1 << 18])
func oversizedValue(buffer: Int) throws {
  let fits = "[\"\(String(repeating: "}", count: 46))\"]"
  let long = "[\"\(String(repeating: "}", count: 47))\"]"
  let before = "{}\n {\"b\":1}"
  let bytes = Array("\(before) \(long)\(fits)\n\(long)\n\(fits) \n{}\n \(long)".utf8)
  for longLine in [10, 60, 1 << 20] {
    let sizes = LineSizes(buffer: buffer, longLine: longLine, valueMax: 50)
    let reading = try Reading(gzip(bytes), inflated: bytes, sizes: sizes)
    #expect(reading.text == "\(before) \(fits)\n\n\(fits) \n{}\n ")
    let second = Int64(before.utf8.count + 1 + 51 + 50 + 1)
    #expect(
      reading.oversized == [
        Reading.Place(line: 2, byteOffset: Int64(before.utf8.count + 1)),
        Reading.Place(line: 3, byteOffset: second),
        Reading.Place(line: 6, byteOffset: Int64(bytes.count - 51)),
      ])
  }
}

@Test("A value that never closes is skipped up to its newline", arguments: [4, 64, 4096])
func unclosedValue(buffer: Int) throws {
  let endless = "{\"a\":\"" + String(repeating: "x\\\"", count: 3000)
  let bytes = Array("{}\n\(endless)\n{}\n".utf8)
  let sizes = LineSizes(buffer: buffer, longLine: 100, valueMax: 1000)
  let reading = try Reading(bytes, inflated: bytes, sizes: sizes)
  #expect(reading.text == "{}\n\n{}\n")
  #expect(reading.oversized == [Reading.Place(line: 2, byteOffset: 3)])
}

@Test("Endless bytes of one kind need little memory", arguments: ["\0", "\n", " ", "{"])
func bomb(byte: Character) throws {
  let member = gzip(runsOf: byte.asciiValue ?? 0, runs: 10_000)
  let count = Int64(3 * (1 + 258 * 10_000))
  let sizes = LineSizes(valueMax: 3 << 20)
  let reading = try Reading(member + member + member, sizes: sizes)
  #expect(reading.end.inflatedBytes == count)
  #expect(reading.end.damage == nil)
  #expect((reading.chunkSizes.max() ?? 0) <= 2 << 20)
  let isBlank = byte == "\n" || byte == " "
  #expect(reading.oversized == (isBlank ? [] : [Reading.Place(line: 1, byteOffset: 0)]))
  #expect(Int64(reading.bytes.count) == (isBlank ? count : 0))
}

@Test("Newlines are counted and found in any range")
func newlineSearch() {
  for count in [0, 1, 191, 192, 193, 384, 3071, 3072, 3073, 9000] {
    for step in [1, 2, 193, 3072, 10_000] {
      let bytes = (0..<count).map { $0 % step == 0 ? UInt8(ascii: "\n") : UInt8(ascii: "x") }
      bytes.withUnsafeBytes { buffer in
        #expect(newlines(in: buffer) == Int64(bytes.count { $0 == UInt8(ascii: "\n") }))
        #expect(lastNewline(in: buffer) == bytes.lastIndex(of: UInt8(ascii: "\n")))
      }
    }
  }
}

@Test("Torn values are cut and skipped alike, however little is read at a time", arguments: 0..<8)
func tornValues(seed: UInt64) throws {
  var dice = SeededNumbers(seed: seed)
  let tokens = ["{", "}", "[", "]", "\"", "\\", ",", ":", " ", "\n", "x", "{}", "\u{feff}", "}{"]
  for _ in 0..<40 {
    let count = Int.random(in: 1...80, using: &dice)
    let torn = (0..<count).flatMap { _ in Array((tokens.randomElement(using: &dice) ?? "").utf8) }
    // The first line is text, because a document over several lines would be converted.
    let bytes = Array("x\n".utf8) + torn
    let valueMax = Int.random(in: 8...24, using: &dice)
    for archive in [gzip(bytes), bytes] {
      let large = try Reading(
        archive, sizes: LineSizes(buffer: 1 << 16, longLine: 1 << 16, valueMax: valueMax))
      for buffer in [1, 5, 16] {
        let sizes = LineSizes(buffer: buffer, longLine: 4, valueMax: valueMax)
        let small = try Reading(archive, inflated: bytes, sizes: sizes)
        #expect(small.bytes == large.bytes && small.oversized == large.oversized)
        #expect(small.end == large.end)
      }
    }
  }
}

@Test("Values of a long line that is known are not delivered again", arguments: [1, 16, 64, 4096])
func knownLongLine(buffer: Int) throws {
  let long = "[\"\(String(repeating: "x", count: 900))\"]"
  let small = (0..<100).map { "{\"n\":\($0)}" }.joined()
  let known = "{}\n\(small)\(long)\(small)\n"
  let bytes = Array("\(known)\(small)\(long)\n{}\n".utf8)
  for valueMax in [500, 4000] {
    let sizes = LineSizes(buffer: buffer, longLine: 100, valueMax: valueMax)
    let reading = try Reading(
      bytes, inflated: bytes, sizes: sizes, known: Int64(known.utf8.count) + 1)
    let isRead = valueMax > long.utf8.count
    #expect(reading.text == "\(small)\(isRead ? long : "")\n{}\n")
    #expect(reading.oversized.map(\.line) == (isRead ? [] : [3]))
  }
}
