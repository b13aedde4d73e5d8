import Formats
import Domain

/// Log lines that contain JSON after a prefix, such as a time and a level, or with nginx's escapes,
/// which write `\\x22` for a quote.
enum LogText {
  /// The content of base64 `text`, inflated if it is gzip, as CloudWatch sends it; empty if it is
  /// not base64.
  static func decoded(_ text: UnsafeRawBufferPointer) -> [UInt8] {
    let decoded = base64Content(of: text) ?? []
    guard decoded.starts(with: [0x1F, 0x8B]) else { return decoded }
    return gzipContent(of: decoded, bytesMax: defaultValueBytesMax) ?? []
  }

  /// Where the JSON of a line begins; nil when there is none.
  ///
  /// The second half of a torn value has an unmatched closing bracket and is not a log line.
  static func start(of line: UnsafeRawBufferPointer) -> Int? {
    guard let brace = line.firstIndex(of: UInt8(ascii: "{")) else { return nil }
    var open: [Int] = []
    for place in 0..<brace {
      switch line[place] {
      case UInt8(ascii: "["): open.append(place)
      case UInt8(ascii: "]"): if open.popLast() == nil { return nil }
      case UInt8(ascii: "}"): return nil
      default: break
      }
    }
    if brace + 1 < line.count, line[brace + 1] == UInt8(ascii: "\\") {
      // JSON inside a string.
      return brace > 0 && line[brace - 1] == UInt8(ascii: "\"") ? brace - 1 : nil
    }
    guard let list = open.popLast() else { return brace }
    let between = UnsafeRawBufferPointer(rebasing: line[(list + 1)..<brace])
    return open.isEmpty && between.trimmed.isEmpty ? list : nil
  }

  /// Whether a text that begins with `byte` can be JSON with a body in it.
  static func beginsJSON(_ byte: UInt8) -> Bool {
    ValueEnd.isOpening(byte) || byte == UInt8(ascii: "\"")
  }

  /// The time, with its offset from UTC, in one or two of the first words of a prefix.
  ///
  /// syslog writes a priority before the time, and a length before the priority.
  static func time(of prefix: Slice<UnsafeRawBufferPointer>) -> Instant? {
    let words = prefix.split(maxSplits: 4, omittingEmptySubsequences: true) {
      " \t[]".utf8.contains($0)
    }
    for begin in words.indices.prefix(3) {
      for end in words[begin...].prefix(2) {
        let text = UnsafeRawBufferPointer(rebasing: prefix[words[begin].startIndex..<end.endIndex])
        if let time = InstantText.rfc3339(text, needsOffset: true), time >= firstStoreOpened {
          return time
        }
      }
    }
    return nil
  }

  /// The line without nginx's escapes, `\\xHH` for a byte; nil when it has none.
  ///
  /// Inside a JSON string they become JSON escapes.
  static func withoutEscapes(_ line: UnsafeRawBufferPointer) -> [UInt8]? {
    let quote = UInt8(ascii: "\"")
    guard line.indices.contains(where: { escaped(line, $0) == quote }) else { return nil }
    let brace = line.firstIndex(of: UInt8(ascii: "{")) ?? line.startIndex
    // A log that is JSON itself has the escapes in its strings.
    let isInString =
      UnsafeRawBufferPointer(rebasing: line[brace...].dropFirst()).trimmed.first == quote
      || brace > 0 && line[brace - 1] == quote
    var plain: [UInt8] = []
    plain.reserveCapacity(line.count)
    var place = 0
    while place < line.count {
      guard let byte = escaped(line, place) else {
        plain.append(line[place])
        place += 1
        continue
      }
      switch byte {
      case quote, UInt8(ascii: "\\"):
        plain += isInString ? [UInt8(ascii: "\\"), byte] : [byte]
      case 0..<0x20 where isInString:
        plain += Array("\\u00".utf8) + line[(place + 2)..<(place + 4)]
      default: plain.append(byte)
      }
      place += 4
    }
    return plain
  }

  /// The byte whose escape begins at `place`; nil if there is none.
  private static func escaped(_ line: UnsafeRawBufferPointer, _ place: Int) -> UInt8? {
    guard place + 4 <= line.count, line[place] == UInt8(ascii: "\\"),
      line[place + 1] == UInt8(ascii: "x")
    else { return nil }
    return UInt8(text(UnsafeRawBufferPointer(rebasing: line[(place + 2)..<(place + 4)])), radix: 16)
  }
}
