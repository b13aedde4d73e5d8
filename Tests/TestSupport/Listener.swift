import Synchronization

/// Reports a signal after a number of checks.
public final class Listener: Sendable {
  private let before: Int
  private let asked = Mutex(0)

  /// Reports nothing the first `before` times.
  public init(before: Int) { self.before = before }

  /// Number of checks so far.
  public var count: Int { asked.withLock { $0 } }

  /// SIGTERM, or 0 if it has not arrived yet.
  @Sendable public func ask() -> Int32 {
    asked.withLock { $0 += 1 }
    return count > before ? 15 : 0
  }
}
