import Foundation

/// Ends the process with `sentence` when `holds` is false; libFuzzer then keeps the input.
func claim(_ holds: Bool, _ sentence: @autoclosure () -> String) {
  guard !holds else { return }
  report("does not hold: \(sentence())")
  abort()
}

/// Writes a line to standard error.
func report(_ line: String) { FileHandle.standardError.write(Data((line + "\n").utf8)) }

extension UnsafeRawBufferPointer {
  /// The first byte, which steers the target, and the bytes after it; nil if there is none.
  var steered: (choice: Int, rest: UnsafeRawBufferPointer)? {
    guard let first else { return nil }
    return (Int(first), UnsafeRawBufferPointer(rebasing: dropFirst()))
  }

  /// The bytes as text, with invalid UTF-8 replaced.
  var text: String { String(decoding: self, as: UTF8.self) }
}

/// Calls `body` with the bytes of `text`.
func withBytes<Result>(of text: String, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
  var text = text
  return text.withUTF8 { body(UnsafeRawBufferPointer($0)) }
}
