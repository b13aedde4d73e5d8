import ArgumentParser
import Pipeline

struct ReportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "report",
    abstract: "Publish the reports from the ledger without reading input.",
    discussion: """
      Reads no archive. --as-of publishes the reports as of that business time, from all that the \
      ledger holds today. --at-run publishes the set of that run again, byte for byte; with \
      --as-of, that business time from the ledger as of that run.

        subledger report --as-of 2026-11-01 --out october
        subledger report --at-run 41 --out as-published
      """)

  @Option(
    help: ArgumentHelp(
      "Use only the ledger as of run N. (default: all of today)", valueName: "N"))
  var atRun: Int64?

  @OptionGroup(title: "Output") var output: OutputOptions
  @OptionGroup(title: "Ledger") var ledger: LedgerOptions

  @Flag(help: "Do everything except writing; print what would change.")
  var dryRun = false

  func validate() throws {
    guard atRun != nil else { return }
    let given = output.given
    let followed = [
      "timezone", "prices", "decisions", "reports_dir", "csv_dialect", "amount_decimals", "locale",
      "xlsx",
    ].filter { given[$0] != nil }.map { "--\($0.replacing("_", with: "-"))" }
    guard followed.isEmpty else {
      throw ValidationError(
        "--at-run uses the options of that run; leave out "
          + followed.joined(separator: ", "))
    }
  }

  func run() throws {
    var flags = output.given
    if dryRun { flags["dry_run"] = ["true"] }
    try Session(ledger).run { session in
      try session.reporting(session.pipeline(flags)) {
        try atRun.map($0.report(atRun:)) ?? $0.report()
      }
    }
  }
}
