import EventStore
import Domain

/// Whether a ledger needs attention.
public struct Health: Sendable, Equatable {
  /// Description of the newest run that published.
  let newest: String
  let problems: [String]

  /// Whether there are no problems.
  public var isGood: Bool { problems.isEmpty }
  /// Each problem in a line; one line if there are none.
  public var lines: [String] { isGood ? ["ok: \(newest)"] : problems }
}

extension RunPipeline {
  /// Checks whether the ledger needs attention; as-of is now.
  ///
  /// - Parameter ageMax: maximum age of the newest run's as-of, such as `26h`.
  /// - Throws: `SubledgerError` of kind `noInput` when there is no ledger.
  public func health(ageMax: String) throws -> Health {
    try requireLedger(to: "check")
    let ledger = try Ledger.open(path: plan.ledger, mode: .readOnly)
    try ledger.requireSealed()
    return try ledger.atOneMoment { try plan.health(of: ledger, ageMax: ageMax) }
  }
}

extension Plan {
  func health(of ledger: Ledger, ageMax: String) throws -> Health {
    guard let age = Interval(units: ageMax) else {
      throw SubledgerError(
        .usage, "--max-age: \"\(ageMax)\" is not a duration such as 26h or 2d",
        hint: "--help describes every option")
    }
    guard let run = try ledger.lastPublished() else {
      return Health(newest: "", problems: ["no run has published yet"])
    }
    let newest = "run \(run.id) as of \(run.asOf.text)"
    var problems: [String] = []
    let failOn = configuration.job.failOn
    if rules.asOf.since(run.asOf) > age {
      problems.append("the newest is \(newest), older than \(ageMax)")
    }
    problems += run.qualified.map { "\(newest) was published with reservations: \($0)" }
    let breaks = try ledger.breakCounts()
    func count(_ isMeant: (BreakCount) -> Bool) -> Int64 {
      breaks.filter(isMeant).reduce(0) { $0 + $1.count }
    }
    let stale = count { $0.code == BreakCode.staleInput.rawValue && $0.isOpen }
    if stale > 0 { problems.append("input is stale: \(counted(stale, "STALE_INPUT break"))") }
    let gated = count { failOn.includes(status: $0.status, severity: $0.severity) }
    if gated > 0 {
      problems.append(
        "\(counted(gated, "break")) at or above --fail-on \(failOn.rawValue)")
    }
    return Health(newest: newest, problems: problems)
  }
}

extension BreakCount {
  /// Whether their events can no longer arrive, and they have no decision.
  var isOpen: Bool { Plan.FailOn.open.includes(status: status, severity: severity) }
}

extension Plan.FailOn {
  /// Whether undecided breaks of this kind cause exit code 1.
  func includes(status: String, severity: String) -> Bool {
    let isOpen = ["open", "reopened"].contains(status)
    return switch self {
    case .none: false
    case .pending: isOpen || status == "pending"
    case .open: isOpen
    case .critical: isOpen && severity == Severity.critical.rawValue
    }
  }
}
