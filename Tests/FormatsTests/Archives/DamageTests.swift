import Testing

@testable import Formats

import TestSupport

/// Whether this build has an inflating library to compare with zlib.
private let hasISAL: Bool = {
  #if ISAL
    true
  #else
    false
  #endif
}()

private let firstText = "{\"a\":1}\n{\"b\":2}\n"

@Test("A cut anywhere keeps the lines and the closed values that end before it")
func truncation() throws {
  for archive in [compressedMember + gzip(firstText), gzip(firstText) + compressedMember] {
    let whole = try Reading(archive).lines
    for length in 2..<archive.count {
      let reading = try Reading(Array(archive[..<length]))
      #expect(whole.starts(with: reading.lines))
      #expect(reading.text.isEmpty || "\n}".contains(reading.text.suffix(1)))
      let damage = reading.end.damage
      let isBetweenMembers =
        length == compressedMember.count || length == gzip(firstText).count
      if damage == nil {
        #expect(isBetweenMembers)
      } else {
        #expect(damage?.offset == Int64(length))
      }
    }
  }
}

@Test("A cut anywhere in a doubly compressed archive keeps its first lines")
func truncationOfDoubleGzip() throws {
  let archive = gzip(compressedMember + gzip(firstText))
  for length in 2..<archive.count {
    let reading = try Reading(Array(archive[..<length]))
    #expect((compressedText + firstText).hasPrefix(reading.text))
    #expect(reading.end.damage?.offset == Int64(length))
  }
}

@Test("A wrong byte anywhere never crashes the program, and earlier members stay complete")
func wrongByte() throws {
  let first = gzip(firstText)
  let archive = first + compressedMember
  for place in first.count..<archive.count {
    var wrong = archive
    wrong[place] ^= 0xFF
    let reading = try Reading(wrong)
    #expect(reading.text.hasPrefix(firstText))
    if let damage = reading.end.damage { #expect(damage.offset >= Int64(first.count)) }
  }
}

@Test("A wrong checksum or length is damage", arguments: [-8, -1])
func wrongTrailer(place: Int) throws {
  var archive = compressedMember
  archive[archive.count + place] ^= 1
  let reading = try Reading(archive)
  #expect(reading.text == compressedText)
  #expect(reading.end.damage?.detail.contains("corrupt") == true)
}

@Test("Garbage after the last member is damage at that point, and everything before it is kept")
func trailingGarbage() throws {
  for text in [firstText, "{\"a\":1}"] {
    for padding in [[], [0, 0, 0]] as [[UInt8]] {
      let member = gzip(text) + padding
      let reading = try Reading(member + Array("garbage".utf8))
      #expect(reading.text == text)
      #expect(reading.end.damage?.offset == Int64(member.count))
    }
  }
}

@Test("After damage, complete glued values before a torn one are kept")
func tornGluedLine() throws {
  let member = gzip("{\"a\":1}\n\u{FEFF}{\"b\":\"}{\"} {\"c\":3}{\"d\":")
  let reading = try Reading(Array(member.dropLast(8)))
  #expect(reading.text == "{\"a\":1}\n\u{FEFF}{\"b\":\"}{\"} {\"c\":3}")
}

@Test(
  "After damage, a closed last value needs no newline; one that might continue is dropped",
  arguments: [
    ("{\"b\":2}", true), ("[{\"b\":2}] ", true), ("{\"b\":\"}\"}\r", true), ("{\"b\":2", false),
    ("{\"b\":\"}", false), ("12", false), ("\"b\"", false), ("true", false),
  ])
func tornLastLine(last: String, isWhole: Bool) throws {
  let member = gzip("{\"a\":1}\n" + last)
  var wrongSum = member
  wrongSum[member.count - 6] ^= 1
  let expected = "{\"a\":1}\n" + (isWhole ? last : "")
  let next = Array(gzip(firstText).prefix(5))
  for archive in [Array(member.dropLast(8)), wrongSum, member + next] {
    let reading = try Reading(archive)
    #expect(reading.text == expected && reading.end.damage != nil)
    for buffer in [1, 7] {
      let pieces = try Reading(archive, sizes: LineSizes(buffer: buffer), byZlibAlone: true)
      #expect(pieces.bytes == reading.bytes && pieces.end == reading.end)
    }
  }
}

@Test("After damage, a closed value over the limit is skipped as usual")
func tornOversizedValue() throws {
  let member = gzip("{\"a\":1}\n{\"b\":\"0123456789\"}")
  let reading = try Reading(Array(member.dropLast(8)), sizes: LineSizes(valueMax: 10))
  #expect(reading.text == "{\"a\":1}\n")
  #expect(reading.oversized == [Reading.Place(line: 2, byteOffset: 8)])
}

@Test(
  "Plain bytes that end inside an object or array are damaged; complete values before count",
  arguments: [
    ("{\"b\":", ""), ("[{\"b\":2}", ""), ("{\"b\":\"}", ""), ("{\"b\":2}{\"c", "{\"b\":2}"),
    ("\u{FEFF} {\"c", "\u{FEFF} "), ("}{", "}"),
  ])
func cutPlain(last: String, whole: String) throws {
  let bytes = Array(("{\"a\":1}\n" + last).utf8)
  for sizes in [LineSizes(), LineSizes(buffer: 1), LineSizes(buffer: 7, longLine: 4)] {
    let reading = try Reading(bytes, inflated: bytes, sizes: sizes)
    #expect(reading.text == "{\"a\":1}\n" + whole)
    #expect(reading.end.damage?.offset == Int64(bytes.count))
    #expect(reading.end.damage?.detail == "the file ends inside a JSON value")
    let beginning = try Reading(Array(("{\"a\":1}\n" + whole).utf8))
    #expect(reading.end.inflatedBytes == beginning.end.inflatedBytes)
    #expect(reading.end.contentHash == beginning.end.contentHash)
  }
}

@Test(
  "Plain bytes with any other end are complete: after a value, in garbage or an overlong value",
  arguments: ["{\"b\":2}", "12", "\"b", "tru", "{\"b\":\n", "{\"b\":\"0123456789"])
func uncutPlain(last: String) throws {
  for buffer in [1, 7, 256] {
    let sizes = LineSizes(buffer: buffer, longLine: 4, valueMax: 10)
    let reading = try Reading(Array(("{\"a\":1}\n" + last).utf8), sizes: sizes)
    #expect(reading.end.damage == nil)
    #expect(reading.oversized.count == (last.count > 10 ? 1 : 0))
  }
}

@Test("Messages about damage never contain the archive's content")
func damageIsSilent() throws {
  let reading = try Reading(Array(gzip("secret").dropLast(9)) + Array("secret".utf8))
  #expect(reading.end.damage?.detail.contains("secret") == false)
}

@Test(
  "Damage is the same for every inflating library",
  .enabled(if: hasISAL, "zlib alone is there"))
func sameDamageByZlib() throws {
  let members = gzip(firstText) + compressedMember + gzip(runsOf: UInt8(ascii: "x"), runs: 40)
  for archive in [members, gzip(members)] {
    for place in 2..<archive.count {
      try expectSameByZlib(archive, damagedAt: place)
      try expectSameByZlib(Array(archive[..<place]))
    }
  }
}

@Test(
  "Damage far after the first buffers is the same, too",
  .enabled(if: hasISAL, "zlib alone is there"), arguments: 1...UInt64(2))
func sameDamageByZlibFarBehind(seed: UInt64) throws {
  var numbers = SeededNumbers(seed: seed)
  var archive: [UInt8] = []
  for _ in 0..<2 {
    var text = ""
    while text.utf8.count < 700_000 {
      text += "{\"\(numbers.next() % 1000)\":\(numbers.next() >> (numbers.next() % 64))}\n"
    }
    archive += try packed(text)
  }
  for _ in 0..<25 {
    let place = Int.random(in: 2..<archive.count, using: &numbers)
    try expectSameByZlib(archive, damagedAt: place)
  }
  try expectSameByZlib(Array(archive[..<Int.random(in: 2..<archive.count, using: &numbers)]))
}

private func expectSameByZlib(_ archive: [UInt8], damagedAt place: Int? = nil) throws {
  var archive = archive
  if let place { archive[place] ^= 0x55 }
  let reading = try Reading(archive)
  let byZlib = try Reading(archive, byZlibAlone: true)
  #expect(reading.bytes == byZlib.bytes && reading.end == byZlib.end)
}

private func packed(_ text: String) throws -> [UInt8] {
  let packer = GzipPacker()
  var archive: [UInt8] = []
  var text = text
  text.withUTF8 { bytes in
    packer.add(UnsafeRawBufferPointer(bytes)) { archive += $0 }
  }
  packer.finish { archive += $0 }
  return archive
}

@Test(
  "Lines that another library inflates from a member that zlib refuses are removed",
  arguments: [1, 42, 100, 256 << 10])
func contradicted(buffer: Int) throws {
  let lines = String(repeating: "{\"a\":1}\n{\"b\":\"c\"}\n", count: 40)
  let refused = refusedGzip(lines)
  for archive in [refused, gzip(firstText) + refused, gzip(refused)] {
    let sizes = LineSizes(buffer: buffer)
    let reading = try Reading(archive, sizes: sizes)
    let byZlib = try Reading(archive, sizes: sizes, byZlibAlone: true)
    #expect(reading.bytes == byZlib.bytes && reading.end == byZlib.end)
    #expect(reading.end == (try Reading(archive)).end)
    #expect(reading.end.damage?.detail == "the gzip data is corrupt: invalid distances set")
  }
}
