import TestSupport
import Domain

@testable import Pipeline

extension Plan {
  /// Creates the plan from flags, variables, the configuration file and defaults.
  init(flags: [String: [String]], environment: [String: String], now: Instant) throws {
    let given = GivenSettings(flags: flags, environment: environment)
    _ = try given.accepted()
    self.init(given, now: now)
  }
}

extension Configuration {
  /// The configuration of a file's content.
  static func read(_ bytes: [UInt8], named path: String) throws(SubledgerError) -> Configuration {
    try GivenSettings(bytes, named: path).accepted()
  }
}

/// Tests of flags, variables and a configuration file together.
protocol PlanSuite {
  var folder: TemporaryFolder { get }
}

extension PlanSuite {
  /// The time at which plans are made.
  var now: Instant { Instant(milliseconds: 1_772_323_200_000) }

  /// The plan for `flags`, the variables in `environment`, and `file` as the configuration unless a
  /// flag names another.
  func plan(
    _ flags: [String: [String]] = [:], _ environment: [String: String] = [:], file: String = ""
  ) throws -> Plan {
    var flags = flags
    if flags["config"] == nil { flags["config"] = [try folder.write(file, to: "subledger.yaml")] }
    return try Plan(flags: flags, environment: environment, now: now)
  }
}
