/// SVG shapes of a chart that fits any width: x in percent, y in points.
struct Marks {
  private(set) var text = ""

  /// Adds a bar; `left` and `width` are in percent.
  mutating func bar(
    _ style: String, left: Double, width: Double, top: Double, height: Double
  ) {
    text += "<rect class=\"\(style)\" x=\"\(percent(left))\" y=\"\(points(top))\""
    text += " width=\"\(percent(width))\" height=\"\(points(max(0.5, height)))\"/>"
  }

  mutating func rule(_ style: String, at y: Double) {
    text += "<line class=\"\(style)\" x1=\"0\" x2=\"100%\" y1=\"\(points(y))\""
    text += " y2=\"\(points(y))\"/>"
  }

  mutating func line(_ style: String, from: (x: Double, y: Double), to: (x: Double, y: Double)) {
    text += "<line class=\"\(style)\" x1=\"\(percent(from.x))\" y1=\"\(points(from.y))\""
    text += " x2=\"\(percent(to.x))\" y2=\"\(points(to.y))\"/>"
  }

  mutating func label(_ words: String, _ style: String, x: Double, y: Double) {
    text += "<text class=\"\(style)\" x=\"\(percent(x))\" y=\"\(points(y))\">"
    text += asHTML(words) + "</text>"
  }

  /// Adds shapes with `lines` as a tooltip.
  mutating func group(_ lines: [String], _ shapes: (inout Marks) -> Void) {
    text += "<g><title>\(lines.map(asHTML).joined(separator: "\n"))</title>"
    shapes(&self)
    text += "</g>"
  }

  private func percent(_ value: Double) -> String {
    value == 0 ? "0" : decimal(value, hundredths: true) + "%"
  }

  private func points(_ value: Double) -> String { decimal(value, hundredths: false) }
}

/// A coordinate with one or two decimals; 0 if it is not finite.
func decimal(_ value: Double, hundredths: Bool) -> String {
  guard value.isFinite, abs(value) < 1e9 else { return "0" }
  let scale = hundredths ? 100.0 : 10.0
  let rounded = (value * scale).rounded() / scale
  return rounded == rounded.rounded() ? String(Int(rounded)) : String(rounded)
}
