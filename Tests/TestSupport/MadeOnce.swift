import Synchronization

/// Values that several tests share, each created when a test first needs it.
public final class MadeOnce<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  private final class Place: Sendable { let value = Mutex<Value?>(nil) }

  private let places = Mutex<[Key: Place]>([:])

  /// An empty store.
  public init() {}

  /// The value of `key`; other tests wait while `make` creates it.
  public func value(_ key: Key, make: () throws -> Value) throws -> Value {
    let place = places.withLock { places in
      if let place = places[key] { return place }
      let place = Place()
      places[key] = place
      return place
    }
    return try place.value.withLock { value in
      if let value { return value }
      let made = try make()
      value = made
      return made
    }
  }
}
