internal import Domain
internal import Formats
internal import Glibc

/// Rows of the list of charges in a file without a name, each part of them sorted.
///
/// Rows come by subscription and are printed by day, and all of them can be more than memory holds.
struct ChargeSpill {
  /// Where the rows of one day in one part lie.
  private struct Extent {
    let offset: Int
    let count: Int
  }

  private let file: OpenFile
  private let path: String
  private var size = 0
  private var extents: [Day: [Extent]] = [:]
  private var buffer: [UInt8] = []

  /// Makes the file at `path` and takes its name away.
  init(at path: String) throws(SubledgerError) {
    guard let file = OpenFile(path, O_RDWR | O_CREAT | O_TRUNC, rights: 0o600),
      unlink(path) == 0
    else { throw .system("make the file", path, .cannotCreate) }
    self.file = file
    self.path = path
  }

  var days: [Day] { extents.keys.sorted() }

  /// Writes the rows of `part`, which is sorted.
  mutating func add(_ part: ChargePart) throws(SubledgerError) {
    buffer.removeAll(keepingCapacity: true)
    var day: Day?
    var start = 0
    func end(_ extents: inout [Day: [Extent]], _ count: Int, _ size: Int) {
      guard let day, count > start else { return }
      extents[day, default: []].append(Extent(offset: size + start, count: count - start))
    }
    for entry in part.entries {
      if entry.day != day {
        end(&extents, buffer.count, size)
        (day, start) = (entry.day, buffer.count)
      }
      withUnsafeBytes(of: entry.milliseconds) { buffer.append(contentsOf: $0) }
      withUnsafeBytes(of: Int64(entry.count)) { buffer.append(contentsOf: $0) }
      buffer.append(contentsOf: part.bytes[entry.start..<entry.start + entry.count])
    }
    end(&extents, buffer.count, size)
    guard buffer.withUnsafeBytes(file.write) else {
      throw .system("write the file", path)
    }
    size += buffer.count
  }

  /// The rows of a day, which are written in `dialect`, sorted.
  func rows(of day: Day, in dialect: CSVDialect) throws(SubledgerError) -> ChargePart {
    var part = ChargePart(dialect)
    for extent in extents[day] ?? [] {
      let start = part.bytes.count
      part.bytes.append(contentsOf: repeatElement(0, count: extent.count))
      try read(extent, to: &part.bytes, at: start)
      part.bytes.withUnsafeBytes { bytes in
        var place = start
        while place < start + extent.count {
          let milliseconds = bytes.loadUnaligned(fromByteOffset: place, as: Int64.self)
          let count = Int(bytes.loadUnaligned(fromByteOffset: place + 8, as: Int64.self))
          part.entries.append(
            ChargePart.Entry(
              milliseconds: milliseconds, day: day, start: place + 16, count: count))
          place += 16 + count
        }
      }
    }
    part.sort()
    return part
  }

  private func read(
    _ extent: Extent, to bytes: inout [UInt8], at start: Int
  ) throws(SubledgerError) {
    var done = 0
    while done < extent.count {
      let read = bytes.withUnsafeMutableBytes { bytes in
        file.read(
          into: UnsafeMutableRawBufferPointer(
            rebasing: bytes[start + done..<start + extent.count]),
          at: extent.offset + done)
      }
      guard let read, read > 0 else { throw .system("read", path) }
      done += read
    }
  }
}
