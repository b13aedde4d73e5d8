/// A 64-bit hash of bytes that is the same on every machine and in every version.
///
/// Ledger keys are built from it, so its constants never change. It folds 128-bit products, as
/// wyhash does (Wang Yi, "wyhash and wyrand", public domain). It is not a defence against forged
/// ids: the ledger compares the full text where it matters.
public struct Fingerprint: Sendable {
  private var state: UInt64

  /// A hash that starts from `seed`.
  public init(seed: UInt64 = 0) { state = seed ^ 0xa076_1d64_78bd_642f }

  /// Mixes in a number.
  @inline(__always)
  public mutating func combine(_ value: UInt64) {
    state = Self.fold(state ^ value, 0xe703_7ed1_a0b4_28db)
  }

  /// Mixes in bytes and their count, so that `ab`+`c` differs from `a`+`bc`.
  public mutating func combine(_ bytes: UnsafeRawBufferPointer) {
    var offset = 0
    let count = bytes.count
    var lanes = state
    while count - offset >= 16 {
      let first = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
      let second = UInt64(
        littleEndian: bytes.loadUnaligned(fromByteOffset: offset + 8, as: UInt64.self))
      lanes = Self.fold(first ^ 0x8ebc_6af0_9c88_c6e3, second ^ lanes)
      offset += 16
    }
    let tail = Self.tail(bytes, from: offset)
    lanes = Self.fold(tail.0 ^ 0x5899_65cc_7537_4cc3, tail.1 ^ lanes)
    state = Self.fold(lanes ^ UInt64(truncatingIfNeeded: count), 0x1d8e_4e27_c47d_124f)
  }

  /// The last bytes, at most 15, as two numbers; reads whole words where there are enough bytes.
  @inline(__always)
  private static func tail(_ bytes: UnsafeRawBufferPointer, from offset: Int) -> (UInt64, UInt64) {
    func word(_ offset: Int) -> UInt64 {
      UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }
    let count = bytes.count
    let rest = count - offset
    if rest > 8 { return (word(offset), word(count - 8) >> UInt64(8 * (16 - rest))) }
    if rest == 8 { return (word(offset), 0) }
    if rest == 0 { return (0, 0) }
    if count >= 8 { return (word(count - 8) >> UInt64(8 * (8 - rest)), 0) }
    var short: UInt64 = 0
    for index in 0..<rest { short |= UInt64(bytes[offset + index]) << UInt64(8 * index) }
    return (short, 0)
  }

  /// Mixes in the UTF-8 bytes of `text`.
  public mutating func combine(_ text: String) {
    text.withBytes { combine($0) }
  }

  /// The hash so far; never 0, which the ledger reads as "none".
  public var value: Int64 {
    let mixed = Self.fold(state, 0x2d35_8dcc_aa6c_78a5)
    return mixed == 0 ? 1 : Int64(bitPattern: mixed)
  }

  /// The id of the break that the fingerprint identifies; it starts with a letter, so that a
  /// spreadsheet never reads it as a number.
  public var breakID: String { "b-" + UInt64(bitPattern: value).hexadecimal }

  @inline(__always)
  private static func fold(_ left: UInt64, _ right: UInt64) -> UInt64 {
    let product = left.multipliedFullWidth(by: right)
    return product.high ^ product.low
  }

  /// The hash of `bytes` alone.
  public static func of(_ bytes: UnsafeRawBufferPointer) -> Int64 {
    var fingerprint = Fingerprint()
    fingerprint.combine(bytes)
    return fingerprint.value
  }

  /// The hash of `text` alone; 0 for an empty text, which means "none".
  public static func of(_ text: String) -> Int64 {
    text.isEmpty ? 0 : text.withBytes { of($0) }
  }
}

/// The key that a subscription's events share: its original transaction id in its store.
///
/// Equal arguments give equal keys on every machine; production and sandbox have different keys.
public func lineageKey(
  provider: Provider, app: String, environment: Environment, store: Store, original: String
) -> Int64 {
  original.withBytes {
    lineageKey(
      provider: provider, app: Fingerprint.of(app), environment: environment, store: store,
      original: $0)
  }
}

/// The same key from an app's fingerprint and the bytes of the original transaction id.
public func lineageKey(
  provider: Provider, app: Int64, environment: Environment, store: Store,
  original: UnsafeRawBufferPointer
) -> Int64 {
  var fingerprint = Fingerprint(seed: 1)
  fingerprint.combine(
    UInt64(provider.rawValue) | UInt64(environment.rawValue) << 8 | UInt64(store.rawValue) << 16)
  fingerprint.combine(UInt64(bitPattern: app))
  fingerprint.combine(original)
  return fingerprint.value
}

extension Int64 {
  /// The number that an id represents: 1 to 18 digits without leading zeros; nil for any other id.
  ///
  /// Printing the number returns the id.
  @inlinable
  @inline(__always)
  public init?(plainNumber id: UnsafeRawBufferPointer) {
    guard !id.isEmpty, id.count <= 18, id[0] != UInt8(ascii: "0") || id.count == 1 else {
      return nil
    }
    var number: Int64 = 0
    for byte in id {
      let digit = byte &- UInt8(ascii: "0")
      guard digit <= 9 else { return nil }
      number = number &* 10 &+ Int64(digit)
    }
    self = number
  }

  /// The digits of a user's key in other ids; empty for 0.
  ///
  /// Only the ledger's table of users contains the text of the id.
  public var userKeyText: String { self == 0 ? "" : UInt64(bitPattern: self).hexadecimal }

  /// The user's key from `userKeyText`; 0 for any other text.
  public init(userKeyText text: String) {
    self = text.utf8.count == 16 ? UInt64(text, radix: 16).map { Int64(bitPattern: $0) } ?? 0 : 0
  }
}

/// The key of a transaction id within a lineage: the id itself when it is a plain number, else its
/// fingerprint; 0 for none.
public func transactionKey(_ id: UnsafeRawBufferPointer) -> Int64 {
  if id.isEmpty { return 0 }
  return Int64(plainNumber: id) ?? Fingerprint.of(id)
}

/// The key of a transaction id given as text.
public func transactionKey(_ id: String) -> Int64 {
  id.withBytes { transactionKey($0) }
}

extension UInt64 {
  /// Its sixteen hexadecimal digits with leading zeros.
  public var hexadecimal: String { String(self, radix: 16).zeroPadded(to: 16) }
}
