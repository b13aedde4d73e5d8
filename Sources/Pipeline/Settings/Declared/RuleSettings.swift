import Domain
import Reconciliation

/// Settings that determine numbers, breaks and reservations.
extension Setting {
  static let deadlines = [
    Setting(
      "renewal_gap", .duration, { $0.renewalGap = $1 }, [.kept], default: "24h",
      "Longest time between the end of a period and the next charge that is not a lapse."),
    Setting(
      "delivery_window", .byProvider(.duration), { $0.deliveryWindows = $1 }, [.kept],
      whenUnset: """
        the last retry and its tolerance, plus the time from events to their messages that each \
        feed shows
        """,
      example: "\nqonversion: 27h\nflobuk: 46h20m\niaptic: 27h\npurple: 27h",
      "Longest delay with which a provider still delivers."),
    Setting(
      "delivery_retries", .byProvider(.schedule), { $0.retrySchedules = $1 }, [.kept],
      whenUnset: """
        the published schedules; for FLOBUK also [5m, 10m, 15m, 20m, 25m, 30m], \
        whichever fits more deliveries
        """,
      example: """

        qonversion: [1m, 6m, 4h, 8h, 24h]
        flobuk: [10m, 1h10m, 5h10m, 17h10m, 29h10m, 41h10m]
        iaptic: []
        purple: []
        """,
      "Retries of each provider, from its first attempt; without retries [].",
      more: "Used to infer the attempt of a delivery in archives read from now on."),
    Setting(
      "retry_horizon", .duration, { $0.retryHorizon = $1 }, [.kept], default: "60d",
      "Longest time after an involuntary end in which a charge is a recovery."),
    Setting(
      "freshness_max", .ofFeeds(.duration), { $0.freshnessMax = $1 }, [.kept],
      whenUnset: """
        3 times the feed's longest silence of the last 60 days, at least 48h and at most 14d, or \
        that silence itself
        """,
      example: "{qonversion: 48h, iaptic: {com.example.app: 20d}}",
      """
      Age at which the newest input of a feed is stale: for all feeds, by provider, or by its apps.
      """
    ),
    Setting(
      "history_begins", .ofFeeds(.time), { $0.historyBegins = $1 }, [.kept],
      whenUnset: "the first delivery, except an isolated one long before the rest",
      example: "2025-01-01",
      "When feeds began, by provider or app as above: no event before that is missed."),
  ]

  static let money = [
    Setting(
      "double_charges", .choice, { $0.doubleCharges = $1 }, [.kept], default: "hold",
      """
      A transaction of Apple or Play that is charged twice, and refunds above their charge: hold \
      keeps the excess out of the sums, book adds it.
      """,
      more: "Breaks report it in both cases."),
    Setting(
      "authority", .authority, { $0.authority = $1 }, [.kept],
      default: "[qonversion, iaptic, flobuk, purple]",
      """
      Whose report of a store transaction counts where several providers report it: the first's.
      """),
  ]

  static let reservations = [
    Setting(
      "fail_on", .choice, { $0.job.failOn = $1 }, [.option], default: "none",
      "Exit 1 if such breaks are published: none, pending, open or critical."),
    Setting(
      "limits.value_bytes", .number(in: 1...1 << 30), { $0.valueBytesMax = $1 }, [.kept],
      // Offsets inside a value have four bytes.
      default: "16777216", "Longest JSON value in bytes, at most 1 GiB; longer ones are rejected."),
    Setting(
      "limits.rejected_share", .share, { $0.rejectedShare = $1 }, [.kept], default: "1%",
      """
      Share of rejected lines, of all archives or of one, that qualifies the set; at least 20 \
      lines.
      """),
    Setting(
      "materiality", .share, { $0.materialityShare = $1 }, [.kept], default: "0.5%",
      """
      Share of a period's net revenue that open breaks may concern before the set is qualified.
      """,
      more: "Write a share above 1 in percent."),
    Setting(
      "breaks.severity_usd", .steps(of: .amount, "amounts", from: SeverityThresholds().amounts),
      { $0.severity.amounts = $1 }, [.kept], default: "{medium: 1, high: 50, critical: 500}",
      "Severity of breaks by money, in US dollars without sign.",
      more: "Below medium: low; zero: info. Each step must be at least the previous one."),
    Setting(
      "breaks.severity_days",
      .steps(of: .number(in: 0...1_000_000), "days", from: SeverityThresholds().days),
      { $0.severity.days = $1 }, [.kept], default: "{medium: 8, high: 31}",
      "Severity of breaks by days since the missing event was due.",
      more: "critical has no default."),
  ]
}
