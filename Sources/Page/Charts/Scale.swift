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

struct Ticks {
  let values: [Int128]

  /// About four multiples of 1, 2 or 5 times a power of ten that enclose `low` and `high`; zero if
  /// both are zero.
  ///
  /// - Parameter least: the smallest step in millionths; for counts, one whole.
  init(from low: Int128, to high: Int128, least: Int128 = 1) {
    let (low, high) = (min(low, high), max(low, high))
    guard high > low else {
      values = low == 0 ? [0] : [min(0, low), max(0, high)]
      return
    }
    var step: Int128 = least
    var factor = 0
    while (high - low) / step >= 4 {
      step = step / [1, 2, 5][factor % 3] * [2, 5, 10][factor % 3]
      factor += 1
    }
    var values = [low.roundedDown(to: step)]
    while let last = values.last, last < high { values.append(last + step) }
    self.values = values
  }
}

extension Int128 {
  /// The greatest multiple of `step` that does not exceed the value.
  func roundedDown(to step: Int128) -> Int128 {
    let rest = self % step
    return rest < 0 ? self - rest - step : self - rest
  }
}
