/// Converts values on an axis to positions, in percent or points.
///
/// Only positions are binary fractions; values are whole millionths.
struct Scale {
  let low: Int128
  let high: Int128
  /// The position of `high`; `low` is at 0.
  let length: Double

  /// The position of a value; the middle when the axis has no extent.
  func place(_ value: Int128) -> Double {
    guard high > low else { return length / 2 }
    return Double(value - low) / Double(high - low) * length
  }
}

/// About four multiples of 1, 2 or 5 times a power of ten that enclose `low` and `high`; zero if
/// both are zero.
///
/// - Parameter least: the smallest step in millionths; for counts, one whole.
func ticks(from low: Int128, to high: Int128, least: Int128 = 1) -> [Int128] {
  let (low, high) = (min(low, high), max(low, high))
  guard high > low else { return low == 0 ? [0] : [min(0, low), max(0, high)] }
  var step: Int128 = least
  var factor = 0
  while (high - low) / step >= 4 {
    step = step / [1, 2, 5][factor % 3] * [2, 5, 10][factor % 3]
    factor += 1
  }
  // The first is the greatest multiple that does not exceed `low`.
  var values = [low - (low % step + step) % step]
  while let last = values.last, last < high { values.append(last + step) }
  return values
}
