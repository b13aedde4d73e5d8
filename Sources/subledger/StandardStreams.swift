import Domain
import Glibc
import Synchronization

/// Standard input, output and error as inherited: they can be closed, on a full disk, or a pipe
/// without a reader.
enum StandardStreams {
  /// Prevents a run's files from getting descriptors 0 to 2, and signals of a closed pipe or a file
  /// size limit from killing the run.
  ///
  /// Must be called before anything else.
  static func secure() {
    signal(SIGPIPE, SIG_IGN)
    // A write beyond `ulimit -f` then fails with an error.
    signal(SIGXFSZ, SIG_IGN)
    // If SIGCHLD were ignored, exit codes of child processes would be lost.
    signal(SIGCHLD, SIG_DFL)
    // The system assigns the lowest free number, so each closed stream is replaced in turn.
    var descriptor: Int32 = 0
    while (0...2).contains(descriptor) {
      // Writes fail, as they would on the closed stream.
      descriptor = open("/dev/null", O_RDONLY)
    }
    if descriptor > 2 { close(descriptor) }
  }

  /// Prints a command's result and a line end to standard output.
  ///
  /// The command is then done, even if the reader closes the pipe early.
  static func print(_ text: String) throws(SubledgerError) {
    let cause = write(Array(text.utf8) + [UInt8(ascii: "\n")], to: STDOUT_FILENO)
    guard cause == 0 || cause == EPIPE else { throw unwritable(cause) }
  }

  /// Writes a part of a command's output while the rest is computed.
  ///
  /// - Throws: `SubledgerError` of kind `stopped(SIGPIPE)` when the reader closed the pipe.
  static func put(_ bytes: [UInt8]) throws(SubledgerError) {
    let cause = write(bytes, to: STDOUT_FILENO)
    guard cause != EPIPE else {
      throw SubledgerError(.stopped(SIGPIPE), "the reader closed the output")
    }
    guard cause == 0 else { throw unwritable(cause) }
  }

  private static func unwritable(_ cause: Int32) -> SubledgerError {
    SubledgerError(
      .inputOutput, "cannot write to standard output: \(String(cString: strerror(cause)))",
      hint: "check where the output goes")
  }

  /// Whether standard error ends in a line that is redrawn.
  private static let isDrawn = Mutex(false)

  /// Writes to standard error, below a drawn line; a failure cannot be reported.
  static func mention(_ text: String) {
    isDrawn.withLock { isDrawn in
      _ = write(Array(((isDrawn ? "\n" : "") + text).utf8), to: STDERR_FILENO)
      isDrawn = false
    }
  }

  static func endDrawing() { mention("") }

  static func draw(_ line: String) {
    isDrawn.withLock { isDrawn in
      _ = write(Array("\r\u{1B}[K\(line)".utf8), to: STDERR_FILENO)
      isDrawn = true
    }
  }

  /// Writes all of `bytes`; returns the error number, or 0.
  private static func write(_ bytes: [UInt8], to descriptor: Int32) -> Int32 {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count >= 0 {
        rest = rest.dropFirst(count)
      } else if errno == EAGAIN {
        var wait = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        poll(&wait, 1, -1)
      } else if errno != EINTR {
        return errno
      }
    }
    return 0
  }
}
