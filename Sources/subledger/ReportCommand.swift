import ArgumentParser
import Nightly

struct ReportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "report",
    abstract: "Publish the reports from the ledger as it stands.",
    discussion: """
      Reads no archive. With another --as-of it publishes the reports as of that business time.

        subledger report --as-of 2026-11-01 --out october
      """)

  @OptionGroup(title: "Output") var output: OutputOptions
  @OptionGroup(title: "Ledger") var ledger: LedgerOptions

  @Flag(help: "Do everything except writing; say what would change.")
  var dryRun = false

  func run() throws {
    try Session(ledger, progress: .never).run { session in
      var options = Options()
      output.fill(&options)
      ledger.fill(&options)
      if dryRun { options.dryRun = true }
      return try session.timed(session.night(options)) { try $0.report() }
    }
  }
}
