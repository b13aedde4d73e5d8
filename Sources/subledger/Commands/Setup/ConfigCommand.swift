import ArgumentParser
import Domain
import Pipeline

struct ConfigCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "config",
    abstract: "Make, check and show the configuration.",
    subcommands: [
      ConfigInitCommand.self, ConfigCheckCommand.self, ConfigShowCommand.self,
      ConfigSchemaCommand.self,
    ])
}

struct ConfigInitCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "init",
    abstract: "Write a configuration file for the input that there is.",
    discussion: """
      Reads the first lines of at most a hundred archives, and writes every setting with what it \
      is for: paths as they are, the others as comments with their default. --config - prints it. \
      Exit 73 means that the file exists.

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
      Looks at the file, the variables and the options of a run, and at the files that they name. \
      Each error is named with its file, line and remedy. Exit 78 when there is one.

        subledger config check --config /etc/subledger/subledger.yaml
      """)

  @OptionGroup var given: RunOptions

  func run() throws {
    try Session(given.ledger).run { _ in
      let settings = GivenSettings(flags: given.flags, environment: Session.environment)
      let problems = settings.problems(environment: Session.environment, now: .now)
      guard !problems.isEmpty else {
        try StandardStreams.print(settings.summary + ", nothing is wrong")
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
      A row a setting: an option, a variable, a line of the file, or the default. Secrets are \
      masked.

        subledger config show --config /etc/subledger/subledger.yaml
      """)

  @OptionGroup var given: RunOptions

  func run() throws {
    try Session(given.ledger).run { _ in
      let settings = GivenSettings(flags: given.flags, environment: Session.environment)
      try StandardStreams.print(settings.listing())
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
  @OptionGroup(title: "Ledger") var ledger: LedgerOptions

  var flags: [String: [String]] {
    input.given.merging(output.given) { $1 }.merging(ledger.given) { $1 }
  }
}
