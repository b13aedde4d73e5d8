import ArgumentParser
import Domain
import Pipeline

struct ConfigCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "config",
    abstract: "Create, check and show the configuration.",
    subcommands: [
      ConfigInitCommand.self, ConfigCheckCommand.self, ConfigShowCommand.self,
      ConfigSchemaCommand.self,
    ])
}

struct ConfigInitCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "init",
    abstract: "Write a configuration file for the input found.",
    discussion: """
      Reads the first lines of at most a hundred archives, and writes every setting with its \
      purpose: the paths given, and the rest as comments with their defaults. --config - prints \
      the file. Exit 73 means that the file exists.

        subledger config init --archives /srv/webhooks --snapshots /srv/entitlements
      """)

  @Option(parsing: .upToNextOption, help: .of("archives"))
  var archives: [String] = []

  @Option(parsing: .upToNextOption, help: .of("snapshots"))
  var snapshots: [String] = []

  @OptionGroup(title: "Ledger") var ledger: LedgerOptions

  func run() throws {
    try Session(ledger).run { session in
      let new = try NewConfiguration(
        archives: archives, snapshots: snapshots, stop: session.stop.read)
      let path = ledger.config ?? Session.environment["SUBLEDGER_CONFIG"] ?? "subledger.yaml"
      guard path != "-" else {
        try StandardStreams.put(Array(new.text.utf8))
        return .done
      }
      try StandardStreams.print(new.write(to: path))
      return .done
    }
  }
}

struct ConfigCheckCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check",
    abstract: "Find every error of the configuration at once.",
    discussion: """
      Checks the file, the variables and the options of a run, and the files that they name. \
      Prints each error with its file, line and remedy. Exit 78 when there is one.

        subledger config check --config /etc/subledger/subledger.yaml
      """)

  @OptionGroup var given: RunOptions

  func run() throws {
    try Session(given.ledger).run { session in
      let settings = session.settings(given.flags)
      let problems = settings.problems(now: .now)
      guard !problems.isEmpty else {
        try StandardStreams.print(settings.summary + ", no error")
        return .done
      }
      try StandardStreams.print(problems.map(\.description).joined(separator: "\n"))
      throw SubledgerError(
        .configuration, "the configuration has \(counted(problems.count, "error"))")
    }
  }
}

struct ConfigShowCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show",
    abstract: "Show each setting with its value and where it comes from.",
    discussion: """
      One row per setting: an option, a variable, a line of the file, or the default. Secrets are \
      masked.

        subledger config show --config /etc/subledger/subledger.yaml
      """)

  @OptionGroup var given: RunOptions

  func run() throws {
    try Session(given.ledger).run { session in
      try StandardStreams.print(session.settings(given.flags).listing())
      return .done
    }
  }
}

struct ConfigSchemaCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "schema", abstract: "Print the JSON Schema of the configuration file.",
    shouldDisplay: false)

  @Flag(help: "Print the example configuration instead.")
  var example = false

  func run() throws {
    try StandardStreams.put(Array((example ? NewConfiguration.example : Setting.schema).utf8))
  }
}

struct RunOptions: ParsableArguments {
  @OptionGroup(title: "Input") var input: InputOptions
  @OptionGroup(title: "Output") var output: OutputOptions
  @OptionGroup(title: "Output") var hook: HookOptions
  @OptionGroup(title: "Ledger") var ledger: LedgerOptions

  /// The options without those of the ledger, which the session adds.
  var flags: [String: [String]] {
    input.given.merging(output.given) { $1 }.merging(hook.given) { $1 }
  }
}
