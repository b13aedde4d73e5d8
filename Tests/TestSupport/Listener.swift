import Synchronization

/// Hears a signal after it was asked some times.
public final class Listener: Sendable {
  private let before: Int
  private let asked = Mutex(0)

  /// Hears nothing the first `before` times.
  public init(before: Int) { self.before = before }

  /// How often it was asked.
  public var count: Int { asked.withLock { $0 } }

  /// SIGTERM, or 0 for none yet.
  @Sendable public func ask() -> Int32 {
    asked.withLock { $0 += 1 }
    return count > before ? 15 : 0
  }
}
