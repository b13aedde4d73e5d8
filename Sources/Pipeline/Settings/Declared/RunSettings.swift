public import Logging

/// Settings for the output of reports, and for the execution of the job.
extension Setting {
  static let output = [
    Setting(
      "csv_dialect", .choice, { $0.csvDialect = $1 }, [.kept, .option], default: "rfc4180",
      """
      CSV format: rfc4180, or for spreadsheets excel, where the decimal sign is a comma excel-de, \
      excel-fr and so on.
      """),
    Setting(
      "amount_decimals", .number(in: 0...6), { $0.amountDecimals = $1 }, [.kept, .option],
      whenUnset: "exact", example: "2", "Round printed amounts to this many decimals, 0 to 6."),
    Setting(
      "summary", .path, { $0.job.summary = $1 }, [.option], whenUnset: "none",
      example: "/var/lib/subledger/summary.md",
      """
      Write a summary of the run to this file: text, or by its extension JSON (.json) or \
      Markdown (.md); - is standard output.
      """),
    Setting(
      "metrics", .path, { $0.job.metrics = $1 }, [.option], whenUnset: "none",
      example: "/var/lib/prometheus/node-exporter/subledger.prom",
      "Write the run's metrics to this Prometheus textfile.", more: "See docs/monitoring.md."),
    Setting(
      "notify_url", .webAddress, { $0.job.notifyURL = $1 }, [.option, .secret], whenUnset: "none",
      example: "https://hooks.example.com/services/T000/B000",
      "Call this webhook when the run has ended; ping+URL sends only a GET.",
      more: "Anyone who has the URL can use it: prefer SUBLEDGER_NOTIFY_URL."),
    Setting(
      "locale", .choice, { $0.locale = $1 }, [.kept, .option], default: "en",
      "How index.html writes numbers: en, de, fr, de-CH and so on.",
      more: "Known are cs, da, de, de-CH, en, es, fi, fr, it, nb, nl, pl, pt, ru, sv and tr."),
    Setting(
      "xlsx", .flag, { $0.hasWorkbook = $1 }, [.kept, .option], default: "false",
      "Also publish report.xlsx, a workbook with a sheet for each report.",
      more: "Needs libxlsxwriter-dev when the program is built."),
    Setting(
      "adopt", .flag, { $0.job.adopts = $1 }, [.option], default: "false",
      "Publish over a set that another ledger published."),
  ]

  static let process = [
    Setting(
      "jobs", .number(in: 1...256), { $0.job.jobs = $1 }, [.option],
      whenUnset: "the number of cores", example: "2",
      "Threads that read, fold and write reports."),
    Setting(
      "engine", .choice, { $0.job.engine = $1 }, [.option], default: "embedded",
      "Where events are kept and folded: embedded or spark.", more: "See docs/scaling.md."),
    Setting(
      "master", .text, { $0.job.master = $1 }, [.option], whenUnset: "local[*]",
      example: "spark://host:7077", "Master of Spark."),
    Setting(
      "lake", .text, { $0.job.lake = $1 }, [.option], whenUnset: "next to the ledger",
      example: "/srv/lake", "Folder of Spark's events, which workers see, or URL."),
    Setting(
      "lock_wait", .number(in: 0...1_000_000), { $0.job.lockWait = $1 }, [.option], default: "0",
      "Seconds to wait if another run holds the ledger."),
    Setting(
      "min_age", .number(in: 0...1_000_000), { $0.job.minAge = $1 }, [.option], default: "0",
      "Do not read archives younger than this many seconds.",
      more: "They may still be written."),
    Setting(
      "dry_run", .flag, { $0.job.isDryRun = $1 }, [.option], default: "false",
      "Do everything except writing ledger and reports; print what would change."),
    Setting(
      "log_format", .choice, { $0.job.log.format = $1 }, [.option], default: "text",
      "Format of log lines on standard error: text or json."),
    Setting(
      "progress", .choice, { $0.job.log.progress = $1 }, [.option], default: "auto",
      "Progress bar on standard error: auto, always or never.",
      more: "auto shows it on a terminal only."),
    // A flag overrides `quiet` of a variable or the file; in one source, quiet takes precedence.
    Setting(
      "verbose", .flag, { $0.job.log.show(.info, $1) }, [.option], default: "false",
      "Log more on standard error."),
    Setting(
      "quiet", .flag, { $0.job.log.show(.error, $1) }, [.option], default: "false",
      "Log only errors on standard error; overrides verbose."),
  ]
}

/// The output on standard error.
public struct LogOptions: Sendable {
  /// The format of a line.
  public enum Format: String, CaseIterable, Sendable {
    /// Text for a person.
    case text
    /// One JSON object per line, for a machine.
    case json
  }

  /// When a progress bar is drawn.
  public enum Progress: String, CaseIterable, Sendable {
    /// Only on a terminal.
    case auto
    /// Always.
    case always
    /// Never.
    case never
  }

  /// The format of a line.
  public var format = Format.text
  /// The lowest level that is shown.
  public private(set) var level = Logger.Level.warning
  /// When a progress bar is drawn.
  public var progress = Progress.auto

  /// Shows messages from `level` on; with `isOn` false, no longer that level but the default.
  mutating func show(_ level: Logger.Level, _ isOn: Bool) {
    if isOn { self.level = level } else if self.level == level { self.level = .warning }
  }
}
