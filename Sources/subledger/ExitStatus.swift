import Pipeline

/// The exit codes: the one place that decides.
///
/// Numbers above 63 are from sysexits(3).
enum ExitStatus {
  static let reservations: Int32 = 1

  static func of(_ error: SubledgerError) -> Int32 {
    switch error.kind {
    case .usage: 64
    case .damagedInput: 65
    case .noInput: 66
    case .identity: 70
    case .cannotCreate: 73
    case .inputOutput: 74
    case .tryAgain: 75
    case .permission: 77
    case .configuration: 78
    case .stopped(let signal): 128 + signal
    }
  }
}
