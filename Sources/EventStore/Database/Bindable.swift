internal import Domain

/// A value for a parameter of a statement.
protocol Bindable {
  func bind(to statement: Statement, at index: Int32)
}

extension Statement {
  /// Binds values to the parameters, in order.
  func bindAll<each Value: Bindable>(_ values: repeat each Value) {
    var index: Int32 = 0
    for value in repeat each values {
      index += 1
      value.bind(to: self, at: index)
    }
  }

  /// Runs a statement that returns no rows, with `values` for its parameters.
  func run<each Value: Bindable>(_ values: repeat each Value) throws {
    bindAll(repeat each values)
    try run()
  }
}

extension Bindable where Self: BinaryInteger {
  func bind(to statement: Statement, at index: Int32) { statement.bind(index, Int64(self)) }
}

extension Int64: Bindable {}
extension Int: Bindable {}
extension Int32: Bindable {}

extension String: Bindable {
  func bind(to statement: Statement, at index: Int32) { statement.bind(index, self) }
}

extension UnsafeRawBufferPointer: Bindable {
  func bind(to statement: Statement, at index: Int32) { statement.bind(index, blob: self) }
}

/// Bytes, bound as a blob.
extension [UInt8]: Bindable {
  func bind(to statement: Statement, at index: Int32) {
    withUnsafeBytes { statement.bind(index, blob: $0) }
  }
}

extension Instant: Bindable {
  func bind(to statement: Statement, at index: Int32) { statement.bind(index, milliseconds) }
}

extension Day: Bindable {
  func bind(to statement: Statement, at index: Int32) { statement.bind(index, Int64(number)) }
}

extension Month: Bindable {
  func bind(to statement: Statement, at index: Int32) { statement.bind(index, Int64(number)) }
}

extension Bool: Bindable {
  func bind(to statement: Statement, at index: Int32) { statement.bind(index, self ? 1 : 0) }
}

extension Bindable where Self: RawRepresentable, RawValue == String {
  func bind(to statement: Statement, at index: Int32) { statement.bind(index, rawValue) }
}

extension Bindable where Self: RawRepresentable, RawValue == UInt8 {
  func bind(to statement: Statement, at index: Int32) { statement.bind(index, Int64(rawValue)) }
}

extension Provider: Bindable {}
extension Store: Bindable {}
extension Environment: Bindable {}
extension AmountBasis: Bindable {}
extension EventKind: Bindable {}
extension BreakCode: Bindable {}
extension BreakStatus: Bindable {}
extension Severity: Bindable {}
extension ArchiveKind: Bindable {}
extension AuditEntry.AuditAction: Bindable {}
extension ArchiveStatus: Bindable {}
extension Decision.Verdict: Bindable {}

extension Optional: Bindable where Wrapped: Bindable {
  func bind(to statement: Statement, at index: Int32) {
    if let self { self.bind(to: statement, at: index) } else { statement.bindNull(index) }
  }
}
