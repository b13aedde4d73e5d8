// Renewals by number, the outcome of trials, and retention.
internal import Reports

extension SetContents {
  func renewalCharts() -> ChartGroup {
    let found = [
      (
        "renewals", "Renewals by ordinal", "How often subscriptions have renewed; all months.",
        renewalTable()
      ),
      ("trials", "Trials", "Outcome of the trials of all months.", funnel()),
      ("trials-monthly", "Trials by month", "By the month in which they began.", trialMonths()),
      (
        "retention", "Retention",
        "Share in percent of each cohort that is active so many months after its first payment.",
        retentionTable()
      ),
    ]
    return ChartGroup(
      id: "renewals-trials", title: "Renewals, trials, retention",
      charts: found.map { ChartFigure($0, $1, note: $2, of: $3, numbers) })
  }

  /// The first twelve renewals, all later ones, and those with unknown number.
  private func renewalTable() -> PageTable {
    let first = (1...12).map(String.init)
    let parts =
      first.map { ($0, RowFilter("renewal_ordinal", $0)) } + [
        ("13 and later", RowFilter("renewal_ordinal", noneOf: first + [""])),
        ("Number unknown", RowFilter("renewal_ordinal", "")),
      ]
    let columns = [("Renewals", "renewals"), ("Refunded", "renewals_refunded")]
    return PageTable(
      report: renewals.report, head: "Renewal",
      columns: columns.map { PageTable.Column(title: $0, measure: .sum($1), unit: .count) },
      rows: parts.compactMap { title, filter -> PageTable.Row? in
        let found = renewals.filtered(filter)
        if found.sums.isEmpty { return nil }
        let values = columns.map { found.by().value(.sum($0.1)) }
        return PageTable.Row(
          title: title, filter: filter, values: values,
          bars: [.init(from: 0, to: values[0] ?? 0, style: "c1")])
      })
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
