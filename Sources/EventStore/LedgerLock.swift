public import Domain
internal import Formats
internal import Foundation

/// The lock for writing a ledger, held by one process at a time.
///
/// The kernel releases it when the process ends, however it ends; the lock file stays.
public final class LedgerLock {
  private let file: OpenFile
  private let path: String

  private init(_ file: OpenFile, path: String) { (self.file, self.path) = (file, path) }

  /// Acquires the lock of a ledger, waiting for at most `waitSeconds` and until a signal of `stop`.
  public static func acquire(
    ledgerPath: String, waitSeconds: Int, stop: () -> Int32 = { 0 }
  ) throws(SubledgerError) -> LedgerLock {
    let files = LedgerFiles(of: ledgerPath)
    try files.requireOwn()
    let path = files.lock
    guard let file = OpenFile(path, O_RDWR | O_CREAT | O_NOFOLLOW, rights: 0o600) else {
      throw failure(errno, path)
    }
    let lock = LedgerLock(file, path: path)
    var attemptsLeft = max(0, waitSeconds) * attemptsPerSecond
    while flock(file.descriptor, LOCK_EX | LOCK_NB) != 0 {
      let cause = errno
      guard cause == EWOULDBLOCK || cause == EINTR else { throw failure(cause, path) }
      guard attemptsLeft > 0 else {
        throw SubledgerError(
          .tryAgain, "cannot take the lock \(path): another run holds it",
          hint: "wait until that run is done, or give --lock-wait a number of seconds")
      }
      try SubledgerError.check(stop)
      attemptsLeft -= 1
      usleep(UInt32(1_000_000 / attemptsPerSecond))
    }
    // The previous holder may have removed the file: then others lock a new one.
    guard try lock.isPresent() else {
      return try acquire(
        ledgerPath: ledgerPath, waitSeconds: attemptsLeft / attemptsPerSecond, stop: stop)
    }
    return lock
  }

  /// Whether the path still names the locked file.
  private func isPresent() throws(SubledgerError) -> Bool {
    var (own, named) = (stat(), stat())
    guard fstat(file.descriptor, &own) == 0, lstat(path, &named) == 0 else {
      let cause = errno
      if cause == ENOENT { return false }
      throw .ledgerFile("look at the lock \(path)", cause: cause)
    }
    return own.st_ino == named.st_ino && own.st_dev == named.st_dev
  }

  /// Throws when the lock file was removed: another run can have the lock of a new one.
  func requirePresence() throws(SubledgerError) {
    if try isPresent() { return }
    throw SubledgerError(
      .tryAgain, "cannot go on: the lock \(path) was removed, and another run may have begun",
      hint: "make sure that no job removes that file, and run again")
  }

  private static let attemptsPerSecond = 10

  private static func failure(_ cause: Int32, _ path: String) -> SubledgerError {
    var error = SubledgerError.ledgerFile("take the lock \(path)", cause: cause)
    if [ENOENT, ENOTDIR].contains(cause) {
      (error.kind, error.hint) = (.cannotCreate, "check that the ledger's folder exists")
    }
    return error
  }
}
