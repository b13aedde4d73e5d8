internal import Domain

/// Passes the fields of a blob, one after another, to a writer or from a reader, so that one
/// function describes a layout.
///
/// A record begins with a number whose bits say which fields are present and take bytes.
protocol FieldCoder {
  /// Passes a truth value as the next bit of the record.
  mutating func bit(_ value: inout Bool)
  mutating func code(_ value: inout Int64)
  mutating func code(unsigned value: inout UInt64)
  /// Passes eight bytes, for hashes, which a varint would not shorten.
  mutating func code(hash value: inout Int64)
  mutating func code(_ text: inout String)
  /// Passes bytes, which are valid as long as their source.
  mutating func code(_ bytes: inout UnsafeRawBufferPointer)
  /// Passes records that begin like `first`.
  mutating func code<Element: FieldRecord>(_ records: inout [Element], first: Element)
  /// Notes that the bytes contain a value that is not written.
  mutating func fail()
}

/// A record whose layout is the order in which it passes its fields.
protocol FieldRecord {
  mutating func code<Coder: FieldCoder>(by coder: inout Coder)
}

extension FieldCoder {
  /// Passes a field if it is present; `usual` is the value of an absent one.
  @inline(__always)
  mutating func optional<Value>(
    _ value: inout Value?, _ usual: Value, _ body: (inout Value, inout Self) -> Void
  ) {
    var isPresent = value != nil
    bit(&isPresent)
    guard isPresent else {
      value = nil
      return
    }
    var present = value ?? usual
    body(&present, &self)
    value = present
  }

  /// Passes a number unless it is `usual`.
  @inline(__always)
  mutating func code<Value: Equatable>(
    _ value: inout Value, unless usual: Value, _ body: (inout Value, inout Self) -> Void
  ) {
    var isOther = value != usual
    bit(&isOther)
    if isOther { body(&value, &self) } else { value = usual }
  }

  /// Passes a number that is never negative.
  @inline(__always)
  mutating func code(_ value: inout Int32) {
    var number = UInt64(UInt32(bitPattern: value))
    code(unsigned: &number)
    value = Int32(bitPattern: UInt32(truncatingIfNeeded: number))
  }

  /// Passes a number of less than 62 bits, as a multiple of `unit` if it is one, which saves bytes;
  /// the lowest bit marks others.
  @inline(__always)
  mutating func code(_ value: inout Int64, unit: Int64) {
    let (units, rest) = value.quotientAndRemainder(dividingBy: unit)
    var coded = rest == 0 ? units << 1 : value << 1 | 1
    code(&coded)
    value = coded & 1 == 0 ? (coded >> 1) &* unit : coded >> 1
  }

  /// Passes an instant as its distance from `start`; most are whole seconds.
  @inline(__always)
  mutating func code(_ instant: inout Instant?, from start: Instant = Instant(milliseconds: 0)) {
    optional(&instant, start) { instant, coder in
      var distance = instant.milliseconds &- start.milliseconds
      coder.code(&distance, unit: 1000)
      instant = Instant(milliseconds: start.milliseconds &+ distance)
    }
  }

  /// Passes an amount; most are whole hundredths.
  @inline(__always)
  mutating func code(_ amount: inout Amount?) {
    optional(&amount, .zero) { amount, coder in
      var micros = amount.micros
      coder.code(&micros, unit: 10_000)
      amount = Amount(micros: micros)
    }
  }

  @inline(__always)
  mutating func code(_ answer: inout Bool?) {
    optional(&answer, false) { $1.bit(&$0) }
  }

  /// Passes a case by its raw value.
  @inline(__always)
  mutating func code<Value: RawRepresentable>(_ value: inout Value)
  where Value.RawValue: FixedWidthInteger {
    var number = Int64(value.rawValue)
    code(&number)
    if let known = Value.RawValue(exactly: number).flatMap(Value.init(rawValue:)) {
      value = known
    } else {
      fail()
    }
  }
}

/// Collects the bits with which a record begins.
struct FieldBits: FieldCoder {
  private(set) var bits: UInt64 = 0
  private var next: UInt64 = 1

  @inline(__always)
  mutating func bit(_ value: inout Bool) {
    if value { bits |= next }
    next <<= 1
  }

  func code(_ value: inout Int64) {}
  func code(unsigned value: inout UInt64) {}
  func code(hash value: inout Int64) {}
  func code(_ text: inout String) {}
  func code(_ bytes: inout UnsafeRawBufferPointer) {}
  func code<Element: FieldRecord>(_ records: inout [Element], first: Element) {}
  func fail() {}
}

extension ByteWriter: FieldCoder {
  /// The bits are written before the fields.
  @inline(__always)
  func bit(_ value: inout Bool) {}
  @inline(__always)
  mutating func code(_ value: inout Int64) { put(value) }
  @inline(__always)
  mutating func code(unsigned value: inout UInt64) { put(unsigned: value) }
  mutating func code(hash value: inout Int64) { put(hash: value) }
  mutating func code(_ text: inout String) { put(text) }
  mutating func code(_ bytes: inout UnsafeRawBufferPointer) { put(bytes) }
  func fail() {}

  mutating func code<Element: FieldRecord>(_ records: inout [Element], first: Element) {
    put(unsigned: UInt64(records.count))
    for record in records { put(record) }
  }

  mutating func put(_ record: some FieldRecord) {
    var (record, bits) = (record, FieldBits())
    record.code(by: &bits)
    put(unsigned: bits.bits)
    record.code(by: &self)
  }
}

extension ByteReader: FieldCoder {
  @inline(__always)
  mutating func code(_ value: inout Int64) { value = signed() }
  @inline(__always)
  mutating func code(unsigned value: inout UInt64) { value = unsigned() }
  mutating func code(hash value: inout Int64) { value = hash() }
  /// Keeps an equal text, because a String of its own would take memory.
  mutating func code(_ known: inout String) {
    let text = text()
    if !known.isExactly(text) { known = String(decoding: text, as: UTF8.self) }
  }
  mutating func code(_ bytes: inout UnsafeRawBufferPointer) { bytes = text() }

  mutating func code<Element: FieldRecord>(_ records: inout [Element], first: Element) {
    let (count, outer) = (unsigned(), bits)
    records = []
    records.reserveCapacity(Int(min(count, 8)))
    var record = first
    while records.count < count, isSound {
      read(&record)
      records.append(record)
    }
    bits = outer
  }

  /// Reads a record over the fields of the one before.
  mutating func read(_ record: inout some FieldRecord) {
    readBits()
    record.code(by: &self)
  }
}
