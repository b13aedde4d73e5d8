/// A value that one integer represents.
public protocol IntegerBacked: Sendable, Hashable {
  /// The integer that represents it.
  var integer: Int64 { get }

  /// The value that `integer` represents.
  init(integer: Int64)
}

/// An optional value in the eight bytes of the value: the lowest integer means nil; no input
/// contains it.
///
/// A fold group is in memory with all of its events, each of which has many such values. Inlinable,
/// so that reading one costs only a comparison.
@propertyWrapper
public struct Compact<Value: IntegerBacked>: Sendable, Hashable {
  /// The value's integer; the lowest one for nil.
  public var integer: Int64

  /// A value or nil.
  @inlinable public init(wrappedValue: Value?) { integer = wrappedValue?.integer ?? .min }

  /// The value; nil for none.
  @inlinable public var wrappedValue: Value? {
    get { integer == .min ? nil : Value(integer: integer) }
    set { integer = newValue?.integer ?? .min }
  }
}

extension Int64: IntegerBacked {
  /// Itself.
  @inlinable public var integer: Int64 { self }

  /// The same number.
  @inlinable public init(integer: Int64) { self = integer }
}

extension Instant: IntegerBacked {
  /// Its milliseconds.
  @inlinable public var integer: Int64 { milliseconds }

  /// The instant `integer` milliseconds after the epoch.
  @inlinable public init(integer: Int64) { self.init(milliseconds: integer) }
}

extension Amount: IntegerBacked {
  /// Its millionths.
  @inlinable public var integer: Int64 { micros }

  /// The amount of `integer` millionths.
  @inlinable public init(integer: Int64) { self.init(micros: integer) }
}
