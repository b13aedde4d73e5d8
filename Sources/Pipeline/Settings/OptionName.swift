import Domain

/// An option by its name in the configuration file.
enum OptionName: String, CaseIterable {
  case archives, snapshots, ledger, out
  case asOf = "as_of"
  case capturedAt = "captured_at"
  case timezone, config, prices, decisions, jobs
  case failOn = "fail_on"
  case lockWait = "lock_wait"
  case minAge = "min_age"
  case csvDialect = "csv_dialect"
  case amountDecimals = "amount_decimals"
  case dryRun = "dry_run"
  case logFormat = "log_format"
  case verbose, quiet, progress

  /// Where an option's value is kept, and what it may be.
  enum Slot {
    case text(WritableKeyPath<Options, String?>)
    case list(WritableKeyPath<Options, [String]?>)
    case number(WritableKeyPath<Options, Int?>, ClosedRange<Int>)
    case word(WritableKeyPath<Options, String?>, [String])
    case flag(WritableKeyPath<Options, Bool?>)
  }

  var slot: Slot {
    switch self {
    case .archives: .list(\.archives)
    case .snapshots: .list(\.snapshots)
    case .ledger: .text(\.ledger)
    case .out: .text(\.out)
    case .asOf: .text(\.asOf)
    case .capturedAt: .text(\.capturedAt)
    case .timezone: .text(\.timezone)
    case .config: .text(\.config)
    case .prices: .text(\.prices)
    case .decisions: .text(\.decisions)
    case .jobs: .number(\.jobs, 1...1_000_000)
    case .failOn: .word(\.failOn, Plan.FailOn.allCases.map(\.rawValue))
    case .lockWait: .number(\.lockWait, 0...1_000_000)
    case .minAge: .number(\.minAge, 0...1_000_000)
    case .csvDialect: .word(\.csvDialect, CSVDialect.allCases.map(\.rawValue))
    case .amountDecimals: .number(\.amountDecimals, 0...6)
    case .dryRun: .flag(\.dryRun)
    case .logFormat: .word(\.logFormat, LogOptions.Format.allCases.map(\.rawValue))
    case .verbose: .flag(\.verbose)
    case .quiet: .flag(\.quiet)
    case .progress: .word(\.progress, LogOptions.Progress.allCases.map(\.rawValue))
    }
  }

  /// The option's name in the environment.
  var variable: String { "SUBLEDGER_\(rawValue.uppercased())" }

  /// The option's name on the command line.
  var flag: String { "--\(rawValue.replacing("_", with: "-"))" }
}

extension ClosedRange<Int> {
  /// What to write instead of a number that is none of these.
  var hint: String { "write a whole number from \(lowerBound) to \(upperBound)" }
}
