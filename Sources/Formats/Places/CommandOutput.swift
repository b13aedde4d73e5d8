internal import CPipe
internal import Glibc
internal import Domain

/// The standard output of a system command, piece by piece.
///
/// The command gets no input and is killed when this object is released.
final class CommandOutput {
  private let process: pid_t
  private let output: Int32
  private let errors: Int32
  private let doing: String
  private let stop: @Sendable () -> Int32
  /// The beginning of its standard error.
  private var standardErrorText: [UInt8] = []
  private var errorsHaveEnded = false
  private var isRunning = true

  /// Starts the program `arguments[0]`, which is searched in `PATH`.
  ///
  /// No shell is involved: arguments are passed unchanged. `doing` is the purpose for messages,
  /// such as `read s3://archive/a.gz`; each variable is `NAME=value`.
  init(
    _ arguments: [String], environment: [String], doing: String,
    stop: @escaping @Sendable () -> Int32
  ) throws(SubledgerError) {
    var (outputPipe, errorPipe): ([Int32], [Int32]) = ([-1, -1], [-1, -1])
    guard open_pipe(&outputPipe) == 0, open_pipe(&errorPipe) == 0 else {
      for end in outputPipe where end >= 0 { close(end) }
      throw SubledgerError.system(doing, .inputOutput, cause: errno)
    }
    var files = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&files)
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_adddup2(&files, outputPipe[1], STDOUT_FILENO)
    posix_spawn_file_actions_adddup2(&files, errorPipe[1], STDERR_FILENO)
    // The command would inherit signals that this process ignores.
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    var signals = sigset_t()
    sigemptyset(&signals)
    posix_spawnattr_setsigmask(&attributes, &signals)
    for signal in [SIGPIPE, SIGXFSZ] { sigaddset(&signals, signal) }
    posix_spawnattr_setsigdefault(&attributes, &signals)
    // Its own process group, so that its child processes can be killed with it.
    posix_spawnattr_setpgroup(&attributes, 0)
    posix_spawnattr_setflags(
      &attributes,
      Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP))
    defer {
      posix_spawn_file_actions_destroy(&files)
      posix_spawnattr_destroy(&attributes)
    }
    var words = arguments.map { strdup($0) } + [nil]
    var variables = environment.map { strdup($0) } + [nil]
    defer { for text in words + variables { free(text) } }
    var process = pid_t()
    let failure = posix_spawnp(&process, arguments[0], &files, &attributes, &words, &variables)
    close(outputPipe[1])
    close(errorPipe[1])
    guard failure == 0 else {
      close(outputPipe[0])
      close(errorPipe[0])
      throw SubledgerError(
        .configuration,
        "cannot \(doing): \(arguments[0].shown()) cannot be run: "
          + String(cString: strerror(failure)),
        hint: "install it, or correct `readers` in the configuration")
    }
    (self.process, self.doing, self.stop) = (process, doing, stop)
    (output, errors) = (outputPipe[0], errorPipe[0])
  }

  deinit {
    if isRunning {
      kill(-process, SIGKILL)
      while waitpid(process, nil, 0) < 0, errno == EINTR {}
    }
    close(output)
    close(errors)
  }

  /// The next bytes of the output; 0 at its end if the command succeeded.
  ///
  /// - Throws: `SubledgerError` of kind `inputOutput` if it failed.
  func read(into target: UnsafeMutableRawBufferPointer) throws(SubledgerError) -> Int {
    while true {
      var streams = [
        pollfd(fd: output, events: Int16(POLLIN), revents: 0),
        pollfd(fd: errors, events: Int16(POLLIN), revents: 0),
      ]
      let count = poll(&streams, errorsHaveEnded ? 1 : 2, 200)
      try SubledgerError.check(stop)
      guard count > 0 else { continue }
      if streams[1].revents != 0 { readErrors() }
      guard streams[0].revents != 0 else { continue }
      let read = Glibc.read(output, target.baseAddress, target.count)
      if read > 0 { return read }
      if read < 0, errno == EINTR || errno == EAGAIN { continue }
      let status = try end()
      guard status == 0 else { throw failure(reason(of: status)) }
      return 0
    }
  }

  private func readErrors() {
    var bytes = [UInt8](repeating: 0, count: 4096)
    let count = Glibc.read(errors, &bytes, bytes.count)
    if count < 0, errno == EINTR { return }
    errorsHaveEnded = count <= 0
    if count > 0, standardErrorText.count < bytes.count { standardErrorText += bytes[..<count] }
  }

  /// Waits for the command's end; the status is that of waitpid(2).
  private func end() throws(SubledgerError) -> Int32 {
    var status: Int32 = 0
    while waitpid(process, &status, WNOHANG) == 0 {
      try SubledgerError.check(stop)
      if hasErrors(within: 20) { readErrors() }
    }
    isRunning = false
    while hasErrors(within: 0) { readErrors() }
    return status
  }

  private func hasErrors(within milliseconds: Int32) -> Bool {
    var stream = pollfd(fd: errors, events: Int16(POLLIN), revents: 0)
    return poll(&stream, errorsHaveEnded ? 0 : 1, milliseconds) > 0
  }

  /// The error of a command that failed or whose output is unusable.
  func failure(_ reason: String) -> SubledgerError {
    SubledgerError(
      .inputOutput, "cannot \(doing): \(reason)",
      hint: "run the command of `readers` yourself to see why")
  }

  private func reason(of status: Int32) -> String {
    let ended =
      status & 0x7f == 0
      ? "the command ended with exit code \(status >> 8 & 0xff)"
      : "the command was ended by signal \(status & 0x7f)"
    let lines = String(decoding: standardErrorText, as: UTF8.self).split(
      whereSeparator: \.isNewline)
    let line = lines.first { $0.contains { $0.isLetter } }
    return line.map { "\(ended): \(withoutSecrets($0.prefix(300)).shown())" } ?? ended
  }
}

/// A line from another program without possible keys and tokens: long words of letters and digits,
/// and what follows a question mark or precedes an at sign in an address.
private func withoutSecrets(_ line: Substring) -> String {
  String(line).replacing(/:\/\/[^\s\/@]+@/, with: "://…@").replacing(/\?[^\s"']+/, with: "?…")
    .replacing(/[A-Za-z0-9+_=-]{16,}/) { word in
      let isMixed = word.0.contains { $0.isNumber } && word.0.contains { $0.isLetter }
      return isMixed ? "…" : String(word.0)
    }
}
