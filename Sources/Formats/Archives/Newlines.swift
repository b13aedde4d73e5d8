func newlines(in bytes: UnsafeRawBufferPointer) -> Int64 {
  var (count, start): (Int64, Int) = (0, 0)
  while let end = bytes.place(of: UInt8(ascii: "\n"), from: start) {
    count += 1
    start = end + 1
  }
  return count
}

func lastNewline(in bytes: UnsafeRawBufferPointer) -> Int? {
  bytes.lastIndex(of: UInt8(ascii: "\n"))
}
