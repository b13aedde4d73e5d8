import Domain

// What the stores' own transaction ids tell.

/// Play's order id without the `..0`, `..1` that it adds for each renewal; other ids as they are.
///
/// Source: Android Publisher API, `orderId` of subscription purchases.
func baseOrder(_ id: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
  guard id.starts(with: "GPA.".utf8), let last = id.lastIndex(where: { !isDigit($0) }),
    last + 1 < id.count, id[last] == UInt8(ascii: "."), id[last - 1] == UInt8(ascii: ".")
  else { return id }
  return UnsafeRawBufferPointer(rebasing: id[..<(last - 1)])
}

extension Store {
  /// The shop that makes transaction ids like `id`: Play's begin with `GPA.`, Apple's are digits.
  init(transactionID id: UnsafeRawBufferPointer) {
    if id.starts(with: "GPA.".utf8) {
      self = .playStore
    } else {
      self = !id.isEmpty && id.allSatisfy(isDigit) ? .appStore : .unknown
    }
  }
}
