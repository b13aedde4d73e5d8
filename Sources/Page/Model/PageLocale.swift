internal import Domain

/// The number format of the page; nothing else depends on it.
public enum PageLocale: String, CaseIterable, Sendable {
  /// 1,234.56
  case en
  /// 1 234,56 or 1.234,56
  case cs, da, de, es, fi, fr, it, nb, nl, pl, pt, ru, sv, tr
  /// 1’234.56
  case deCH = "de-CH"

  /// The separator between groups of three digits.
  var grouping: String {
    switch self {
    case .en: ","
    case .cs, .fi, .nb, .pl, .pt, .ru, .sv: "\u{a0}"
    case .fr: "\u{202f}"
    case .da, .de, .es, .it, .nl, .tr: "."
    case .deCH: "’"
    }
  }

  var decimalSign: String { self == .en || self == .deCH ? "." : "," }

  var percentSign: String { self == .en ? "%" : "\u{a0}%" }
}

/// What a number measures, which decides its decimals.
enum Unit: String {
  /// US dollars, with cents.
  case usd
  /// Whole numbers.
  case count
  /// A fraction, as a percentage with one decimal.
  case percent
  /// A fraction, as a percentage with one decimal, without the percent sign.
  case points
  /// A fraction, as a whole percentage without the percent sign.
  case whole
}

/// Formats numbers in millionths for people; nil is unknown.
struct Numbers {
  let locale: PageLocale

  /// The decimals of a unit, and the millionths of its last decimal.
  private func scale(_ unit: Unit) -> (decimals: Int, step: Int128) {
    switch unit {
    case .usd: (2, 10_000)
    case .count: (0, 1_000_000)
    case .percent, .points: (1, 1_000)
    case .whole: (0, 10_000)
    }
  }

  /// The number, rounded half to even; a dash when unknown.
  func text(_ micros: Int128?, _ unit: Unit) -> String {
    guard let micros else { return "–" }
    let (decimals, step) = scale(unit)
    let rounded = micros.dividedHalfToEven(by: step)
    let sign = rounded < 0 ? "−" : ""
    let digits = sign + grouped(rounded.magnitude, decimals: decimals)
    return unit == .percent ? digits + locale.percentSign : digits
  }

  func signed(_ micros: Int128?, _ unit: Unit) -> String {
    let digits = text(micros, unit)
    return (micros ?? 0) > 0 && digits.contains { "123456789".contains($0) } ? "+" + digits : digits
  }

  /// A round number for an axis, with no more digits than it needs.
  func axis(_ micros: Int128, _ unit: Unit) -> String {
    if unit == .percent { return text(micros, unit) }
    var (value, suffix) = (micros.magnitude, "")
    for (size, letter) in [(UInt128(1_000_000_000), "bn"), (1_000_000, "M"), (1_000, "k")]
    where value >= size * 1_000_000 {
      (value, suffix) = (value / size, "\u{a0}" + letter)
      break
    }
    let sign = micros < 0 ? "−" : ""
    let (whole, part) = value.quotientAndRemainder(dividingBy: 1_000_000)
    var fraction = Substring(String(1_000_000 + part).dropFirst())
    while fraction.last == "0" { fraction.removeLast() }
    let decimals = fraction.isEmpty ? "" : locale.decimalSign + fraction
    return sign + grouped(whole, decimals: 0) + decimals + suffix
  }

  private func grouped(_ value: UInt128, decimals: Int) -> String {
    let digits = String(value).zeroPadded(to: decimals + 1)
    var whole = digits.dropLast(decimals)
    var groups: [Substring] = []
    while whole.count > 3 {
      groups.append(whole.suffix(3))
      whole = whole.dropLast(3)
    }
    let text = ([whole] + groups.reversed()).joined(separator: locale.grouping)
    return decimals == 0 ? text : text + locale.decimalSign + digits.suffix(decimals)
  }
}
