/// A library's way to inflate one gzip member after another, and to check CRC-32 and length.
protocol GzipStream: AnyObject {
  func restart()

  /// Inflates as much of `input` into `output` as goes; both hold at most 4 GiB.
  func step(
    _ input: UnsafeMutableRawBufferPointer, into output: UnsafeMutableRawBufferPointer
  ) -> GzipStep
}

struct GzipStep {
  enum Outcome {
    /// More may come.
    case running
    case memberEnd
    /// Neither input taken nor output made: the input ends inside the member.
    case starved
    case corrupt(String)
    case outOfMemory
  }

  let taken: Int
  let made: Int
  let outcome: Outcome
}
