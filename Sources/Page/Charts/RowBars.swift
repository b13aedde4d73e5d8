// The common axis of the bars in the rows of a table.

extension Scale {
  /// An axis that includes `bars` and zero; nil without bars.
  init?(_ bars: [PageTable.Bar]) {
    guard !bars.isEmpty else { return nil }
    let ends = bars.flatMap { [$0.from, $0.to] }
    self.init(low: min(0, ends.min() ?? 0), high: max(0, ends.max() ?? 0), length: 100)
  }

  func svg(_ bars: [PageTable.Bar]) -> String {
    var marks = Marks()
    for bar in bars where bar.from != bar.to {
      let (left, right) = (place(min(bar.from, bar.to)), place(max(bar.from, bar.to)))
      marks.bar(bar.style, left: left, width: max(right - left, 0.8), top: 2, height: 14)
    }
    return "<svg height=\"18\" aria-hidden=\"true\">\(marks.text)</svg>"
  }
}

/// A vertical line per row between the seconds in the first two columns, on an axis where a second,
/// a minute, an hour and a day are at equal distances.
struct RangeChart {
  let table: PageTable
  let numbers: Numbers

  private static let height = 160.0
  private static let names = ["1 s", "1 min", "1 h", "1 d", "10 d"]
  private static let seconds: [Int128] = [1, 60, 3_600, 86_400, 864_000]

  func html(name: String) -> String {
    let values = table.rows.compactMap { $0.values[1] }
    let most = (values.max() ?? 0) / 1_000_000
    let last = Self.seconds.firstIndex { $0 >= most } ?? Self.seconds.count - 1
    let top = max(1, last)
    var axis = Marks()
    var plot = Marks()
    for index in 0...top {
      let y = place(Self.seconds[index], top)
      axis.label(Self.names[index], "tick", x: 100, y: y + 4)
      plot.rule(index == 0 ? "axis" : "rule", at: y)
    }
    let step = table.rowWidth
    for (index, row) in table.rows.enumerated() {
      guard let high = row.values[1] else { continue }
      let low = row.values[0] ?? high
      let x = (Double(index) + 0.5) * step
      let lines = table.columns.indices.map {
        "\(table.columns[$0].title): \(numbers.text(row.values[$0], table.columns[$0].unit))"
      }
      plot.group([row.title] + lines) { marks in
        marks.bar("hit", left: x - step / 2, width: step, top: 8, height: Self.height)
        marks.line(
          "range", from: (x, place(low / 1_000_000, top) + 1),
          to: (x, place(high / 1_000_000, top)))
      }
    }
    return frame(axis, plot, of: table, name: name, height: Self.height)
  }

  /// The vertical position of a time, interpolated between the labelled ones.
  private func place(_ seconds: Int128, _ top: Int) -> Double {
    var place = 0.0
    for index in 0..<top where seconds > Self.seconds[index] {
      let (from, to) = (Self.seconds[index], Self.seconds[index + 1])
      place += Double(min(seconds, to) - from) / Double(to - from)
    }
    return 8 + Self.height - place / Double(top) * Self.height
  }
}

/// A sparkline: the last values before a figure, without axes.
func sparkline(_ values: [Int128?]) -> String {
  let known = values.compactMap(\.self)
  guard known.count > 1, let low = known.min(), let high = known.max() else { return "" }
  let scale = Scale(low: min(0, low), high: max(0, high), length: 26)
  var marks = Marks()
  let step = 100 / Double(max(1, values.count - 1))
  for index in values.indices.dropFirst() {
    guard let from = values[index - 1], let to = values[index] else { continue }
    marks.line(
      "spark", from: (Double(index - 1) * step, 29 - scale.place(from)),
      to: (Double(index) * step, 29 - scale.place(to)))
  }
  return "<svg class=\"spark\" height=\"32\" aria-hidden=\"true\">\(marks.text)</svg>"
}
