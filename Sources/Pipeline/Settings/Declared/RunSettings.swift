/// How reports are printed, and how the job runs.
extension Setting {
  static let output = [
    Setting(
      "csv_dialect", .choice, \.csvDialect, [.kept, .option], default: "rfc4180",
      """
      CSV format: rfc4180, or for spreadsheets excel, where the decimal sign is a comma excel-de, \
      excel-fr and so on.
      """),
    Setting(
      "amount_decimals", .number(in: 0...6), \.amountDecimals, [.kept, .option],
      otherwise: "exact", example: "2", "Round printed amounts to this many decimals, 0 to 6."),
    Setting(
      "summary", .path, \.job.summary, [.option], otherwise: "none",
      example: "/var/lib/subledger/summary.md",
      """
      Write what came of the run to this file: as text, or as its name ends, JSON (.json) or \
      Markdown (.md); - is standard output.
      """),
    Setting(
      "metrics", .path, \.job.metrics, [.option], otherwise: "none",
      example: "/var/lib/prometheus/node-exporter/subledger.prom",
      "Write how the run ended to this Prometheus textfile.", more: "See docs/watching.md."),
    Setting(
      "notify_url", .webAddress, \.job.notifyURL, [.option, .secret], otherwise: "none",
      example: "https://hooks.example.com/services/T000/B000",
      "Call this hook when the run has ended; ping+URL is only asked for with GET.",
      more: "Whoever has the address can use it: rather set SUBLEDGER_NOTIFY_URL."),
    Setting(
      "locale", .choice, \.locale, [.kept, .option], default: "en",
      "How index.html writes numbers: en, de, fr, de-CH and so on.",
      more: "Known are cs, da, de, de-CH, en, es, fi, fr, it, nb, nl, pl, pt, ru, sv and tr."),
    Setting(
      "xlsx", .flag, \.hasWorkbook, [.kept, .option], default: "false",
      "Also publish report.xlsx, a workbook with a sheet for each report.",
      more: "Needs libxlsxwriter-dev when the program is built."),
    Setting(
      "adopt", .flag, \.job.adopts, [.option], default: "false",
      "Publish over a set that another ledger published."),
  ]

  static let process = [
    Setting(
      "jobs", .number(in: 1...1_000_000), \.job.jobs, [.option],
      otherwise: "the number of cores", example: "2",
      "Threads that read, fold and write reports."),
    Setting(
      "engine", .choice, \.job.engine, [.option], default: "embedded",
      "Where events are kept and folded: embedded or spark.", more: "See docs/scaling.md."),
    Setting(
      "master", .text, \.job.master, [.option], otherwise: "local[*]",
      example: "spark://host:7077", "Master of Spark."),
    Setting(
      "lake", .text, \.job.lake, [.option], otherwise: "beside the ledger",
      example: "/srv/lake", "Folder of Spark's events, which workers see, or URL."),
    Setting(
      "lock_wait", .number(in: 0...1_000_000), \.job.lockWait, [.option], default: "0",
      "Seconds to wait if another run holds the ledger."),
    Setting(
      "min_age", .number(in: 0...1_000_000), \.job.minAge, [.option], default: "0",
      "Do not read archives younger than this many seconds.",
      more: "They may still be written."),
    Setting(
      "dry_run", .flag, \.job.isDryRun, [.option], default: "false",
      "Do everything except writing ledger and reports; print what would change."),
    Setting(
      "log_format", .choice, \.job.log.format, [.option], default: "text",
      "Format of log lines on standard error: text or json."),
    Setting(
      "progress", .choice, \.job.log.progress, [.option], default: "auto",
      "Progress bar on standard error: auto, always or never.",
      more: "auto shows it on a terminal only."),
    // A flag overrides `quiet` of a variable or the file; of both in one place, quiet holds.
    Setting(
      name: "verbose", schema: SettingForm.flag.schema, traits: [.option], standard: "false",
      summary: "Log more on standard error."
    ) {
      $0.job.log.isVerbose = try SettingForm.flag.read($1)
      if $0.job.log.isVerbose { $0.job.log.isQuiet = false }
    },
    Setting(
      name: "quiet", schema: SettingForm.flag.schema, traits: [.option], standard: "false",
      summary: "Log only errors on standard error; overrides verbose."
    ) {
      $0.job.log.isQuiet = try SettingForm.flag.read($1)
      if $0.job.log.isQuiet { $0.job.log.isVerbose = false }
    },
  ]
}
