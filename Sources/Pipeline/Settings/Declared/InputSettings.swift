import Providers

/// Paths of input and output, and the meaning of names in the input.
extension Setting {
  static let paths = [
    Setting(
      "archives", .texts, { $0.job.archives = $1 }, [.option], example: "\n- /srv/webhooks",
      "Files or folders of delivered events, gzip or plain JSONL; folders are walked.",
      more: "- is standard input."),
    Setting(
      "snapshots", .texts, { $0.job.snapshots = $1 }, [.option],
      "Files or folders of entitlement snapshots, a user a line.",
      more: "A list of paths, or a group with its `paths`:"),
    Setting(
      "snapshots.paths", .texts, { $0.job.snapshots = $1 }, whenUnset: "none",
      example: "\n- /srv/entitlements", "The paths, when `snapshots` is a group."),
    Setting(
      "snapshots.complete", .flag, { $0.snapshotsAreComplete = $1 }, [.kept], default: "false",
      "Whether the snapshots contain every user.",
      more: """
        Only then a missing user is a break (SNAPSHOT_ABSENT); otherwise the manifest counts such \
        users.
        """),
    Setting(
      "snapshots.from_webhooks", .flag, { $0.snapshotsFromWebhooks = $1 }, [.kept], default: "true",
      "Whether the entitlements in Qonversion's webhooks are compared with the events, too."),
    Setting(
      "ledger", .text, { $0.job.ledger = $1 }, [.option], default: "subledger.sqlite",
      "SQLite ledger; created if missing, readable by its owner only."),
    Setting(
      "readers", .readers, { $0.job.readers = $1 }, whenUnset: "none",
      example: """

        "s3://":
          list: aws s3api list-objects-v2 --bucket {bucket} --prefix {key} --output json
          read: aws s3 cp {path} -
        """,
      "Commands that list and read archives in other storage, by path prefix.",
      more: "See docs/object-stores.md."),
    Setting(
      "out", .text, { $0.job.out = $1 }, [.option], default: "reports",
      "Folder of the published report set."),
    Setting(
      "prices", .path, { $0.job.prices = $1 }, [.option], whenUnset: "none",
      example: "/srv/subledger/prices.csv",
      "Price book (CSV) for charges whose provider sends no money.",
      more: "Without it they have no amount; see docs/operations.md."),
    Setting(
      "decisions", .path, { $0.job.decisions = $1 }, [.option], whenUnset: "none",
      example: "decisions.yaml", "Decisions about breaks, a YAML list.",
      more: "Keep it under version control; see docs/operations.md."),
    Setting(
      "reports_dir", .path, { $0.job.reportsDir = $1 }, [.option], whenUnset: "none",
      example: "/srv/subledger/reports", "Folder of custom reports, as SQL files.",
      more: "See docs/sql.md."),
    Setting(
      "reports", .byName(.text), { $0.reports = $1 }, [.kept], whenUnset: "none", example: "{}",
      "Texts of custom reports by name, as runs keep them."),
  ]

  static let times = [
    Setting(
      "as_of", .time, { $0.asOf = $1 }, [.kept, .option], whenUnset: "now", example: "2026-11-20",
      "Business time of the reports: RFC 3339 with offset, or a date.",
      more: "A date is its start in `timezone`. Leave it out for a nightly job."),
    Setting(
      "timezone", .timeZone, { $0.timezone = $1 }, [.kept, .option], default: "UTC",
      "IANA time zone of days and months."),
    Setting(
      "captured_at", .time, { $0.capturedAt = $1 }, [.kept, .option],
      example: "2026-11-20T02:00:00Z",
      "Capture time of snapshots whose lines and file name contain none."),
  ]

  static let names = [
    Setting(
      name: "products",
      schema: .mapping(
        to: .any(
          SettingForm.texts.schema,
          .mapping(["ids": SettingForm.texts.schema, "period": SettingForm.period.schema]))),
      traits: [.kept],
      example: """

        pro_monthly: com.example.pro.monthly
        pro_yearly:
          ids:
            - com.example.pro.yearly
            - pro-yearly:standard
          period: P1Y
        """,
      summary:
        "Product ids of the provider's dashboard and snapshots, with their store product ids.",
      more: """
        One id, a list of ids, or ids with their period, an ISO 8601 duration of one unit (P7D, \
        P1W, P1M, P1Y). On Play, `product:base_plan` or the product.
        """
    ) { try $0.add(products: $1) },
    Setting(
      name: "periods", schema: .mapping(to: SettingForm.period.schema), traits: [.kept],
      whenUnset: "the length of each paid period", example: "\ncom.example.pro.monthly: P1M",
      summary: "Periods by store product id.",
      more: "For monthly recurring revenue, and for periods without a reported end."
    ) { configuration, value in
      try value.forEach { try configuration.add(SettingForm.period.read($0), of: $0) }
    },
    Setting(
      "event_names", .byName(.eventKind), { $0.reading.eventNames = $1 }, [.kept],
      example: "\nmy_renewal_event: renewed",
      "Custom event names of your dashboard, and their kind."),
    Setting(
      "envelope.body", .texts, { $0.reading.envelope.body = $1 }, [.kept], whenUnset: "none",
      example: "hook_body",
      "Members of custom archives that hold the body, one name or a list.",
      more: "They are read before the known ones (docs/operations.md)."),
    Setting(
      "envelope.received", .texts, { $0.reading.envelope.received = $1 }, [.kept],
      whenUnset: "none", example: "hook_time", "Members that hold the receive time."),
    Setting(
      "envelope.headers", .texts, { $0.reading.envelope.headers = $1 }, [.kept], whenUnset: "none",
      example: "hook_headers", "Members that hold the headers of the request."),
    Setting(
      "customer_id", .choice, { $0.reading.customerID = $1 }, [.kept], whenUnset: "none is kept",
      example: "identity_id",
      """
      The app's own id of a user, as Qonversion's webhooks carry it: identity_id or custom_user_id.
      """,
      more: """
        While this is set, a run keeps the id of what it reads and shows it in breaks, worklist \
        and charges; `erase` removes it.
        """),
  ]

  static let secrets = [
    Setting(
      "secrets", .secrets, { $0.secrets = $1 }, [.secret], whenUnset: "none",
      example: """

        qonversion: {env: SUBLEDGER_SECRET_QONVERSION}
        iaptic:
          - {file: /etc/subledger/iaptic.secret}
          - {file: /etc/subledger/iaptic.secret.next}
        """,
      """
      Secrets of deliveries: one with another secret is rejected as unauthenticated, one without \
      any is accepted.
      """,
      more: """
        Name an environment variable, a file that only its owner can read (one secret per line) or \
        a quoted text (then only the job's user may read this file). Several may be valid at once. \
        Where providers send them: docs/operations.md.
        """)
  ]
}
