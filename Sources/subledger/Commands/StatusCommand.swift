import ArgumentParser
import Pipeline

struct StatusCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status",
    abstract: "Show the ledger's runs, archives, feeds and open breaks.",
    discussion: """
      Only reads, also while a run writes. --format json prints everything as one object for \
      programs. --check prints "ok", or a line for each problem and exits with 1. Exit 66 means \
      that there is no ledger.

        subledger status --ledger /srv/subledger.sqlite
        subledger status --check --fail-on open
      """)

  @Option(help: "text for people, or json for programs.")
  var format: ObjectFormat = .text

  @Flag(help: "Print one line, or one for each problem and exit with 1.")
  var check = false

  @Option(help: "With --check: exit with 1 if the as-of of the newest run is older.")
  var maxAge = "26h"

  @Option(help: "With --check: exit with 1 if such breaks exist: none, pending, open or critical.")
  var failOn: String?

  @OptionGroup(title: "Ledger") var ledger: LedgerOptions

  func run() throws {
    let flags = failOn.map { ["fail_on": [$0]] } ?? [:]
    guard check else {
      return try Session(ledger).print(flags) {
        try $0.status(asJSON: format == .json, ageMax: maxAge)
      }
    }
    try Session(ledger).run { session in
      let health = try session.pipeline(flags).health(ageMax: maxAge)
      try StandardStreams.print(health.lines.joined(separator: "\n"))
      return health.isGood ? .done : .reservations
    }
  }
}

/// The format of a result that is one object.
enum ObjectFormat: String, ExpressibleByArgument, CaseIterable { case text, json }
