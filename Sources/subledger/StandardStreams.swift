import Glibc
import Pipeline

/// Standard input, output and error as whoever started the process has left them: perhaps closed,
/// on a full disk, or into a pipe that nobody reads any more.
enum StandardStreams {
  /// Keeps what a run opens from being taken for one of the three, and the end of a reader, or
  /// of the room that a file may take, from being the end of the run.
  ///
  /// To be called before anything else.
  static func secure() {
    signal(SIGPIPE, SIG_IGN)
    // What writes a file longer than `ulimit -f` allows fails then, and says so.
    signal(SIGXFSZ, SIG_IGN)
    // The lowest free number is given out, so each closed stream is replaced in turn.
    var descriptor: Int32 = 0
    while (0...2).contains(descriptor) {
      // Writing to it fails, as it would have to the closed stream.
      descriptor = open("/dev/null", O_RDONLY)
    }
    if descriptor > 2 { close(descriptor) }
  }

  /// Writes what a command was asked for and a line end to standard output.
  ///
  /// The command is done then, whether or not somebody reads it to the end.
  static func tell(_ text: String) throws(SubledgerError) {
    let cause = write(Array(text.utf8) + [UInt8(ascii: "\n")], to: STDOUT_FILENO)
    guard cause == 0 || cause == EPIPE else { throw unwritable(cause) }
  }

  /// Writes a piece of what a command was asked for, while it works on the rest.
  ///
  /// - Throws: `SubledgerError` of kind `stopped(SIGPIPE)` when nobody reads it any more.
  static func put(_ bytes: [UInt8]) throws(SubledgerError) {
    let cause = write(bytes, to: STDOUT_FILENO)
    guard cause != EPIPE else {
      throw SubledgerError(.stopped(SIGPIPE), "nobody reads the output any more")
    }
    guard cause == 0 else { throw unwritable(cause) }
  }

  private static func unwritable(_ cause: Int32) -> SubledgerError {
    SubledgerError(
      .inputOutput, "cannot write to standard output: \(String(cString: strerror(cause)))",
      hint: "check where the output goes")
  }

  /// Writes to standard error; when that fails there is nobody left to be told.
  static func mention(_ text: String) { _ = write(Array(text.utf8), to: STDERR_FILENO) }

  /// Writes all of `bytes`; gives back the error number, 0 for success.
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
