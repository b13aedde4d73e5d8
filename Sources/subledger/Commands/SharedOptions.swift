import ArgumentParser
import Domain
import Foundation
import Pipeline

/// Options with the name of a setting: `asOf` is `as_of`.
protocol SettingOptions: ParsableArguments {}

extension SettingOptions {
  /// The given options as texts, by the setting's name.
  var given: [String: [String]] {
    var given: [String: [String]] = [:]
    for case (let label?, let option as any GivenOption) in Mirror(reflecting: self).children {
      let name = String(label.dropFirst()).inSnakeCase
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

extension ArgumentHelp {
  /// The help of a setting, with its default.
  static func of(_ setting: String) -> ArgumentHelp { ArgumentHelp(Setting.help(setting)) }
}

protocol GivenOption { var value: Any { get } }
extension Option: GivenOption { var value: Any { wrappedValue } }
extension Flag: GivenOption { var value: Any { wrappedValue } }

struct LedgerOptions: SettingOptions {
  @Option(help: .of("ledger"))
  var ledger: String?

  @Option(help: "Configuration file; unknown keys are an error. (default: subledger.yaml)")
  var config: String?

  @Option(parsing: .unconditional, help: .of("lock_wait"))
  var lockWait: String?

  @Option(help: .of("log_format"))
  var logFormat: String?

  @Option(help: .of("engine"))
  var engine: String?

  @Option(help: .of("master"))
  var master: String?

  @Option(help: .of("lake"))
  var lake: String?

  @Flag(help: .of("verbose"))
  var verbose = false

  @Flag(help: .of("quiet"))
  var quiet = false
}

/// Who changes the ledger, and why.
struct NoteOptions: ParsableArguments {
  @Option(help: "Reason, without ids of persons; kept in the ledger.")
  var reason: String?

  @Option(help: "Who does it; kept in the ledger. (default: your login name)")
  var who: String?

  func checked() throws -> AuditNote { try AuditNote(reason: reason, who: who ?? NSUserName()) }
}

/// Where the files that a ledger was read from are now.
struct PlaceOptions: SettingOptions {
  @Option(
    parsing: .upToNextOption,
    help: "Where archives are now. (default: where they were read)")
  var archives: [String] = []

  @Option(parsing: .upToNextOption, help: "Where files of snapshots are now.")
  var snapshots: [String] = []
}

struct InputOptions: SettingOptions {
  @Option(parsing: .upToNextOption, help: .of("archives"))
  var archives: [String] = []

  @Option(parsing: .upToNextOption, help: .of("snapshots"))
  var snapshots: [String] = []

  @Option(help: .of("captured_at"))
  var capturedAt: String?

  @Option(parsing: .unconditional, help: .of("jobs"))
  var jobs: String?

  @Option(parsing: .unconditional, help: .of("min_age"))
  var minAge: String?

  @Option(help: .of("progress"))
  var progress: String?

  @Flag(help: .of("dry_run"))
  var dryRun = false
}

struct OutputOptions: SettingOptions {
  @Option(help: .of("out"))
  var out: String?

  @Flag(help: .of("adopt"))
  var adopt = false

  @Option(help: .of("as_of"))
  var asOf: String?

  @Option(help: .of("timezone"))
  var timezone: String?

  @Option(help: .of("prices"))
  var prices: String?

  @Option(help: .of("decisions"))
  var decisions: String?

  @Option(help: .of("reports_dir"))
  var reportsDir: String?

  @Option(help: .of("fail_on"))
  var failOn: String?

  @Option(help: .of("summary"))
  var summary: String?

  @Option(help: .of("metrics"))
  var metrics: String?

  @Option(help: .of("csv_dialect"))
  var csvDialect: String?

  @Option(parsing: .unconditional, help: .of("amount_decimals"))
  var amountDecimals: String?

  @Option(help: .of("locale"))
  var locale: String?

  @Flag(help: .of("xlsx"))
  var xlsx = false
}

/// Where a run sends how it ended; `report` sends nothing.
struct HookOptions: SettingOptions {
  @Option(help: .of("notify_url"))
  var notifyUrl: String?
}
