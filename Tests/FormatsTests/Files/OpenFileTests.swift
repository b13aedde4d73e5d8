import Formats
import Foundation
import Synchronization
import TestSupport
import Testing

@Suite("Open files", .serialized)
struct OpenFileTests {
  private let folder: TemporaryFolder
  private let path: String

  init() throws {
    folder = try TemporaryFolder()
    path = folder.path("file")
  }

  @Test("Written bytes are read again, from the start and from an offset")
  func roundTrip() throws {
    let file = try #require(OpenFile(path, O_RDWR | O_CREAT | O_EXCL, rights: 0o600))
    #expect(Array("abcdef".utf8).withUnsafeBytes(file.write))
    #expect(file.sync())
    #expect(file.size() == 6)
    var bytes = [UInt8](repeating: 0, count: 4)
    #expect(bytes.withUnsafeMutableBytes { file.read(into: $0, at: 3) } == 3)
    #expect(bytes == Array("def".utf8) + [0])
    #expect(bytes.withUnsafeMutableBytes { file.read(into: $0) } == 0, "the end")
    #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == Data("abcdef".utf8))
  }

  @Test("A file is read in chunks up to the requested size, and then an empty one")
  func pieces() throws {
    let pieces = try #require(FilePieces(of: folder.write("abcde", to: "file"), size: 2))
    for expected in ["ab", "cd", "e", "", ""] {
      #expect(pieces.next().map { String(decoding: $0, as: UTF8.self) } == expected)
    }
  }

  @Test("A folder can be synced like a file, but not read")
  func openFolder() throws {
    #expect(OpenFile(folder.path, O_RDONLY)?.sync() == true)
    let pieces = try #require(FilePieces(of: folder.path))
    let (piece, cause) = (pieces.next(), errno)
    #expect(piece == nil)
    #expect(cause == EISDIR)
  }

  @Test("The permissions of an open file are returned; a folder has none")
  func rights() throws {
    let file = try #require(OpenFile(path, O_WRONLY | O_CREAT | O_EXCL, rights: 0o640))
    #expect(file.rights() == 0o640)
    #expect(chmod(path, 0o600) == 0)
    #expect(file.rights() == 0o600)
    #expect(try #require(OpenFile(folder.path, O_RDONLY)).rights() == nil)
  }

  @Test("A file that cannot be opened is nil, and the system's reason is kept")
  func missing() throws {
    let (file, cause) = (OpenFile(path, O_RDONLY), errno)
    #expect(file == nil)
    #expect(cause == ENOENT)
    try folder.write("", to: "link's target")
    try FileManager.default.createSymbolicLink(
      atPath: path, withDestinationPath: folder.path("link's target"))
    let (pieces, refusal) = (FilePieces(of: path, flags: O_NOFOLLOW), errno)
    #expect(pieces == nil)
    #expect(refusal == ELOOP)
  }

  @Test("A pipe is refused at once, because it may never have a writer")
  func pipe() {
    #expect(mkfifo(path, 0o600) == 0)
    let (pieces, cause) = (FilePieces(of: path), errno)
    #expect(pieces == nil)
    #expect(cause == ENOTSUP)
  }

  @Test("A failed write is reported with the system's reason")
  func full() throws {
    let file = try #require(OpenFile("/dev/full", O_WRONLY))
    let (isWritten, cause) = ([1].withUnsafeBytes(file.write), errno)
    #expect(!isWritten)
    #expect(cause == ENOSPC)
  }

  @Test("Signals during a blocked read lose no bytes")
  func interruptedReading() throws {
    let text = [UInt8](repeating: 7, count: 50)
    var other = try Interruption(of: path) { path, interrupt in
      guard let file = OpenFile(path, O_WRONLY) else { return }
      for byte in text {
        interrupt()
        _ = [byte].withUnsafeBytes(file.write)
      }
    }
    let file = try #require(OpenFile(path, O_RDONLY))
    var read: [UInt8] = []
    while let piece = file.next(), !piece.isEmpty { read += piece }
    other.wait()
    #expect(read == text)
  }

  @Test("Signals during a blocked write lose no bytes")
  func interruptedWriting() throws {
    let text = [UInt8](repeating: 7, count: 1 << 20)
    let count = Mutex(0)
    var other = try Interruption(of: path) { path, interrupt in
      guard let file = OpenFile(path, O_RDONLY) else { return }
      var taken = 0
      while let piece = file.next(), !piece.isEmpty {
        taken += piece.count
        // A pipe holds less than half of the text, so the writer is still busy.
        if taken < text.count / 2 { interrupt() }
      }
      count.withLock { $0 = taken }
    }
    var file = OpenFile(path, O_WRONLY)
    #expect(file.map { text.withUnsafeBytes($0.write) } == true)
    file = nil
    other.wait()
    #expect(count.withLock { $0 } == text.count)
  }
}

extension OpenFile {
  /// The next bytes; none at the end.
  func next() -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: 1 << 16)
    return bytes.withUnsafeMutableBytes { read(into: $0) }.map { Array(bytes[..<$0]) }
  }
}

/// The number of signals received.
private let signals = Atomic(0)

/// A thread at the other end of a named pipe that interrupts the creating thread.
private struct Interruption {
  private let end = DispatchSemaphore(value: 0)
  private var signal = sigset_t()

  /// Creates the pipe at `path` and calls `body` with a function that interrupts this thread.
  init(of path: String, _ body: @escaping @Sendable (String, () -> Void) -> Void) throws {
    // Unlike `signal`, this makes the system not repeat an interrupted call.
    var action = sigaction()
    action.__sigaction_handler.sa_handler = { _ in signals.add(1, ordering: .relaxed) }
    try #require(sigaction(SIGUSR2, &action, nil) == 0)
    try #require(mkfifo(path, 0o600) == 0)
    // Test threads block all signals.
    sigemptyset(&signal)
    sigaddset(&signal, SIGUSR2)
    pthread_sigmask(SIG_UNBLOCK, &signal, nil)
    let disturbed = pthread_self()
    let end = end
    Thread.detachNewThread {
      body(path) {
        for _ in 0..<20 {
          let before = signals.load(ordering: .relaxed)
          pthread_kill(disturbed, SIGUSR2)
          while signals.load(ordering: .relaxed) == before { sched_yield() }
        }
      }
      end.signal()
    }
  }

  /// Waits until the other thread has finished.
  mutating func wait() {
    end.wait()
    pthread_sigmask(SIG_BLOCK, &signal, nil)
  }
}
