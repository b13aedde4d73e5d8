import ArgumentParser
import Foundation
import Pipeline

struct FetchCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "fetch",
    abstract: "Fetch the current state of users as snapshots for the next run.",
    discussion: """
      Asks those of Qonversion, iaptic and FLOBUK that `fetch` in the configuration names about \
      all users of the ledger, or about those of the published refetch_worklist.csv, and writes a \
      file of snapshots for each provider. An interrupted fetch resumes where it stopped. Lists \
      users without a snapshot with the reason.

        subledger fetch worklist --config subledger.yaml
        subledger fetch snapshots --changed-since 2026-11-20 --to /srv/entitlements
      """)

  enum Users: String, ExpressibleByArgument, CaseIterable { case snapshots, worklist }

  @Argument(help: "snapshots: all users; worklist: those of refetch_worklist.csv.")
  var users: Users

  @Option(help: "Folder for the files; created if missing. (default: the first of --snapshots)")
  var to: String?

  @Option(help: "Of snapshots, only users with events since then: RFC 3339, or a date.")
  var changedSince: String?

  @OptionGroup(title: "Places") var places: FetchOptions
  @OptionGroup(title: "Ledger") var ledger: LedgerOptions

  func validate() throws {
    guard changedSince == nil || users == .snapshots else {
      throw ValidationError("--changed-since is for `fetch snapshots`")
    }
  }

  func run() throws {
    try Session(ledger, drawsProgress: true).run { session in
      let result = try session.pipeline(places.given).fetch(
        onlyWorklist: users == .worklist, changedSince: changedSince, into: to, clock: { .now })
      StandardStreams.endDrawing()
      if isatty(STDOUT_FILENO) != 0 {
        try StandardStreams.print(result.lines.joined(separator: "\n"))
      }
      if let error = result.errors.first { throw error }
      return result.hasReservations ? .reservations : .done
    }
  }
}

struct FetchOptions: SettingOptions {
  @Option(parsing: .upToNextOption, help: .of("snapshots"))
  var snapshots: [String] = []

  @Option(help: .of("out"))
  var out: String?

  @Option(help: .of("progress"))
  var progress: String?
}
