/// The values in a range of bytes, up to the first one that is too long or that ends at least
/// `enough` bytes after the start.
struct ValueScan {
  struct Oversized {
    let start: Int
    /// Nil when the bytes end before the value.
    let end: Int?
    let search: ValueEnd
  }

  private(set) var lastStart: Int?
  private(set) var isLastClosed = false
  /// Whether the last value is a closed object or array, which later bytes cannot change.
  private(set) var isLastWhole = false
  private(set) var oversized: Oversized?
  /// The end of the value at which `enough` bytes are reached; nil when there is none.
  private(set) var end: Int?

  init(_ bytes: UnsafeRawBufferPointer, valueBytesMax: Int, enough: Int = .max) {
    var position = 0
    while let start = bytes[position...].firstIndex(where: { !isBlank($0) }) {
      var search = ValueEnd()
      let end = search.find(in: bytes, from: start)
      if (end ?? bytes.count) - start > valueBytesMax {
        oversized = Oversized(start: start, end: end, search: search)
        return
      }
      lastStart = start
      isLastClosed = end != nil
      isLastWhole = isLastClosed && ValueEnd.isOpening(bytes[start])
      guard let end else { return }
      position = end
      if end >= enough {
        self.end = end
        return
      }
    }
  }
}
