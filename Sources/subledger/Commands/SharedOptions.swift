import ArgumentParser
import Foundation
import Pipeline

/// Options that are settings of the same name: `asOf` is `as_of`.
protocol SettingOptions: ParsableArguments {}

extension SettingOptions {
  /// The texts of the options that were given, by the setting's name.
  var given: [String: [String]] {
    var given: [String: [String]] = [:]
    for case (let label?, let option as any GivenOption) in Mirror(reflecting: self).children {
      let name = label.dropFirst().reduce(into: "") { name, letter in
        name += letter.isUppercase ? "_\(letter.lowercased())" : String(letter)
      }
      switch option.value {
      case let texts as [String] where !texts.isEmpty: given[name] = texts
      case let text as String: given[name] = [text]
      case true as Bool: given[name] = ["true"]
      default: break
      }
    }
    return given
  }
}

protocol GivenOption { var value: Any { get } }
extension Option: GivenOption { var value: Any { wrappedValue } }
extension Flag: GivenOption { var value: Any { wrappedValue } }

/// The ledger, and the log.
struct LedgerOptions: SettingOptions {
  @Option(help: "SQLite ledger; created if missing. (default: subledger.sqlite)")
  var ledger: String?

  @Option(help: "Configuration file; unknown keys are an error. (default: subledger.yaml)")
  var config: String?

  @Option(
    parsing: .unconditional,
    help: "Seconds to wait if another run holds the ledger. (default: 0)")
  var lockWait: String?

  @Option(help: "Format of log lines on standard error: text or json. (default: text)")
  var logFormat: String?

  @Flag(help: "Log more on standard error.")
  var verbose = false

  @Flag(help: "Log only errors on standard error.")
  var quiet = false
}

/// Why something is done to the ledger, and by whom.
struct NoteOptions: ParsableArguments {
  @Option(help: "Why, in words without an id of a person; kept in the ledger.")
  var reason: String?

  @Option(help: "Who does it; kept in the ledger. (default: the name you are logged in with)")
  var who: String?

  func checked() throws -> AuditNote { try AuditNote(reason: reason, who: who ?? NSUserName()) }
}

/// Where the files that a ledger was read from are now.
struct PlaceOptions: SettingOptions {
  @Option(
    parsing: .upToNextOption,
    help: "Where archives are now, when not where they were read. (default: where they were)")
  var archives: [String] = []

  @Option(parsing: .upToNextOption, help: "Where files of snapshots are now.")
  var snapshots: [String] = []
}

/// What to read.
struct InputOptions: SettingOptions {
  @Option(
    parsing: .upToNextOption,
    help: "Files or folders of delivered events, gzip or plain JSONL; folders are walked.")
  var archives: [String] = []

  @Option(
    parsing: .upToNextOption, help: "Files or folders of entitlement snapshots, a user a line.")
  var snapshots: [String] = []

  @Option(help: "Time of snapshots that name none in their lines or file name.")
  var capturedAt: String?

  @Option(
    parsing: .unconditional,
    help: "Threads that read, fold and write reports. (default: the number of cores)")
  var jobs: String?

  @Option(
    parsing: .unconditional,
    help: "Do not read archives younger than this many seconds. (default: 0)")
  var minAge: String?

  @Option(help: "Progress bar on standard error: auto, always or never. (default: auto)")
  var progress: String?

  @Flag(help: "Do everything except writing ledger and reports; print what would change.")
  var dryRun = false
}

/// What to publish.
struct OutputOptions: SettingOptions {
  @Option(help: "Folder of the published report set. (default: reports)")
  var out: String?

  @Flag(help: "Publish over a set that another ledger published.")
  var adopt = false

  @Option(help: "Business time of the reports: RFC 3339, or a date. (default: now)")
  var asOf: String?

  @Option(help: "IANA time zone of days and months. (default: UTC)")
  var timezone: String?

  @Option(help: "Price book (CSV) for charges whose provider sends no money. (default: none)")
  var prices: String?

  @Option(help: "Decisions about breaks, a YAML list. (default: none)")
  var decisions: String?

  @Option(help: "Folder of reports of your own, as SQL files. (default: none)")
  var reportsDir: String?

  @Option(help: "Exit 1 if such breaks are published: none, pending, open or critical.")
  var failOn: String?

  @Option(
    help: """
      Write what came of the run to this file: as text, or as its name ends, JSON (.json) or \
      Markdown (.md); - is standard output. (default: none)
      """)
  var summary: String?

  @Option(help: "Write how the run ended to this Prometheus textfile. (default: none)")
  var metrics: String?

  @Option(
    help: """
      CSV format: rfc4180, or for spreadsheets excel, where the decimal sign is a comma excel-de, \
      excel-fr and so on. (default: rfc4180)
      """)
  var csvDialect: String?

  @Option(
    parsing: .unconditional,
    help: "Round printed amounts to this many decimals, 0 to 6. (default: exact)")
  var amountDecimals: String?

  @Option(
    help: "How index.html writes numbers: en, de, fr, de-CH and so on. (default: en)")
  var locale: String?

  @Flag(help: "Also publish report.xlsx, a workbook with a sheet for each report.")
  var xlsx = false
}
