import ArgumentParser
import Pipeline

@main
struct Subledger: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "subledger",
    abstract: "Revenue, churn, renewals and missed webhooks, from archives of purchase webhooks.",
    discussion: """
      Every day:

        subledger run --archives /srv/webhooks --snapshots /srv/entitlements

      Each event counts once, whatever the order and number of its deliveries. The reports cover \
      business time up to --as-of; the ledger keeps everything else for later runs.

      EXIT STATUS
        0   done, also when there was nothing new
        1   published with reservations: breaks at or above --fail-on, missing money
            above the limit, too many rejected lines, or a file that cannot be read;
            an answer of sql was cut; diff found a difference; doctor or
            status --check found a problem; fetch left out a user
        64  usage                       73  output cannot be made
        65  input damaged beyond use    74  reading or writing failed
        66  no input                    75  another run has the ledger, or too early
        70  a consistency check failed  77  permission denied
        78  configuration               130, 143  stopped by SIGINT, SIGTERM
        141 output of explain, sql or diff closed by its reader
        142 sql stopped at its time limit
      """,
    version: Release.version,
    subcommands: [
      RunCommand.self, IngestCommand.self, FetchCommand.self, ReportCommand.self,
      ExplainCommand.self, SQLCommand.self, DiffCommand.self, CloseCommand.self, ReopenCommand.self,
      VerifyCommand.self, PackCommand.self, StatusCommand.self, BackupCommand.self,
      EraseCommand.self, PruneCommand.self, RetractCommand.self, DrillCommand.self,
      SimulateCommand.self, ConfigCommand.self, DoctorCommand.self,
      MoveCommand.self, StageCommand.self,
    ])

  static func main() {
    ProcessLimits.set()
    StandardStreams.secure()
    do {
      if Set(CommandLine.arguments.dropFirst()) == ["--version", "--verbose"] {
        let lines = ["subledger \(Release.version)"] + BuildInfo.lines
        return try StandardStreams.print(lines.joined(separator: "\n"))
      }
      for (name, argument) in zip(CommandLine.arguments, CommandLine.arguments.dropFirst())
      where argument.isEmpty {
        throw ValidationError(
          "the argument after \"\(name)\" is empty; give it a value, or leave it out")
      }
      var command = try parseAsRoot()
      try command.run()
    } catch {
      exit(withError: pathHint(error) ?? error)
    }
  }

  /// The hint for a path without an option, which was probably meant as input.
  private static func pathHint(_ error: any Error) -> ValidationError? {
    guard ["run", "ingest"].contains(CommandLine.arguments.dropFirst().first),
      let path = message(for: error).firstMatch(of: /nexpected arguments?:? '([^']+)'/)?.1
    else { return nil }
    return ValidationError("unexpected argument \(path): did you mean --archives \(path)?")
  }
}
