import ArgumentParser
import Pipeline

struct ReportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "report",
    abstract: "Publish the reports from the ledger as it stands.",
    discussion: """
      Reads no archive. With another --as-of it publishes the reports as of that business time,
      from all that is known today. With --as-known-at it publishes them as the ledger knew it
      when that run published, to the same bytes; with both, that business time as known then.

        subledger report --as-of 2026-11-01 --out october
        subledger report --as-known-at 41 --out as-published
      """)

  @Option(help: "Publish what the ledger knew when this run published. (default: all of today)")
  var asKnownAt: Int64?

  @OptionGroup(title: "Output") var output: OutputOptions
  @OptionGroup(title: "Ledger") var ledger: LedgerOptions
  @OptionGroup var timing: TimingOptions

  @Flag(help: "Do everything except writing; say what would change.")
  var dryRun = false

  func validate() throws {
    guard asKnownAt != nil else { return }
    let followed = [
      ("--timezone", output.timezone), ("--prices", output.prices),
      ("--decisions", output.decisions), ("--csv-dialect", output.csvDialect),
      ("--amount-decimals", output.amountDecimals.map(String.init)),
    ].filter { $0.1 != nil }.map(\.0)
    guard followed.isEmpty else {
      throw ValidationError(
        "--as-known-at follows what that run followed; leave out "
          + followed.joined(separator: ", "))
    }
  }

  func run() throws {
    func fill(_ options: inout Options) {
      output.fill(&options)
      if dryRun { options.dryRun = true }
    }
    try Session(ledger).run { session in
      try session.timed(session.night(fill), timing) {
        try asKnownAt.map($0.report(asKnownAt:)) ?? $0.report()
      }
    }
  }
}
