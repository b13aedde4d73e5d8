/// A library's stream that inflates one gzip member after another and checks CRC-32 and length.
protocol GzipStream: AnyObject {
  func restart()

  /// Inflates as much of `input` into `output` as fits; both have at most 4 GiB.
  func step(
    _ input: UnsafeMutableRawBufferPointer, into output: UnsafeMutableRawBufferPointer
  ) -> GzipStep
}

struct GzipStep {
  enum Outcome {
    /// There may be more.
    case running
    case memberEnd
    /// No input was consumed and no output produced: the input ends inside the member.
    case starved
    case corrupt(String)
    case outOfMemory
  }

  let taken: Int
  let made: Int
  let outcome: Outcome
}
