// Renewals by ordinal, the outcome of trials, and retention.

extension SetContents {
  func renewalCharts() -> ChartGroup {
    let found = [
      (
        "renewals", "Renewals by ordinal", "How often subscriptions have renewed; all months.",
        renewalTable()
      ),
      ("trials", "Trials", "What became of the trials that began in all months.", funnel()),
      ("trials-monthly", "Trials by month", "By the month in which they began.", trialMonths()),
      (
        "retention", "Retention",
        "Share in percent of each cohort that is active so many months after its first payment.",
        retentionTable()
      ),
    ]
    return ChartGroup(
      id: "renewals-trials", title: "Renewals, trials, retention",
      charts: found.map { ChartFigure($0, $1, note: $2, $3, numbers) })
  }

  /// The first twelve renewals, all later ones, and those whose number is unknown.
  private func renewalTable() -> PageTable {
    let ordinals = renewals.values(of: "renewal_ordinal")
    let first = (1...12).map(String.init).filter(ordinals.contains)
    let measures = [Measure.sum("renewals"), .sum("renewals_refunded")]
    func row(_ title: String, _ filter: RowFilter, _ cube: Cube, _ key: String...) -> PageTable.Row
    {
      let values = measures.map {
        key.isEmpty ? cube.by().value($0) : cube.value($0, key[0])
      }
      return PageTable.Row(
        title: title, filter: filter, values: values,
        bars: [.init(from: 0, to: values[0] ?? 0, style: "c1")])
    }
    var rows = first.map { row($0, RowFilter("renewal_ordinal", $0), renewals, $0) }
    let known = (1...12).map(String.init) + [""]
    let later = renewals.filtered("renewal_ordinal") { !known.contains($0) }
    if !later.sums.isEmpty {
      rows.append(row("13 and later", RowFilter("renewal_ordinal", noneOf: known), later))
    }
    if ordinals.contains("") {
      rows.append(row("Number unknown", RowFilter("renewal_ordinal", ""), renewals, ""))
    }
    return PageTable(
      report: renewals.report, head: "Renewal",
      columns: [
        PageTable.Column(title: "Renewals", measure: measures[0], unit: .count),
        PageTable.Column(title: "Refunded", measure: measures[1], unit: .count),
      ], rows: rows)
  }

  private func funnel() -> PageTable {
    let all = trials.by()
    let steps = [
      ("Started", "started", "total"), ("Converted", "converted", "gain"),
      ("Expired", "expired", "loss"), ("Still pending", "pending", "c0"),
    ]
    return PageTable(
      report: trials.report, head: "Outcome",
      columns: [PageTable.Column(title: "Trials", unit: .count)],
      rows: trials.sums.isEmpty
        ? []
        : steps.map { title, column, style in
          let value = all.value(.sum(column))
          return PageTable.Row(
            title: title, measure: .sum(column), values: [value],
            bars: [.init(from: 0, to: value ?? 0, style: style)])
        })
  }

  private func trialMonths() -> PageTable {
    PageTable(
      trials, "Month", months(of: trials),
      ["started", "converted", "expired", "pending"].map { ($0.capitalised, .sum($0), .count) }
        + [("Conversion", .rate("converted", over: "converted+expired"), .percent)])
  }

  private func retentionTable() -> PageTable {
    let cohorts = months(of: retention)
    let indexes = retention.values(of: "period_index").compactMap { Int($0) }.sorted().prefix(25)
    let rate = Measure.rate("retained", over: "eligible")
    return PageTable(
      report: retention.report, head: "Cohort",
      columns: indexes.map {
        PageTable.Column(
          title: String($0), measure: rate, unit: .whole,
          filter: RowFilter("period_index", String($0)))
      },
      rows: cohorts.map { cohort in
        PageTable.Row(
          title: cohort, filter: RowFilter("cohort", cohort),
          values: indexes.map { retention.value(rate, cohort, String($0)) })
      }, isShaded: true)
  }
}
