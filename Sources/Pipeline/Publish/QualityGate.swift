import EventStore
import Domain

/// Whether the published numbers hold, or hold with reservations only.
struct QualityGate {
  /// Why the set is qualified; empty when it is not.
  private(set) var qualifications: [String] = []
  /// Why this run's own lines deserve a look although the set holds; nil when they do not.
  private let newRejects: String?
  /// Snapshots with too many rejected lines; nil without any.
  private let tornSnapshots: TornSnapshots?
  /// Breaks about stale input, as far as the gate counts them.
  private let stale: [Break]
  private let gate: Plan.FailOn
  private let gated: Int
  private let isDryRun: Bool

  /// `intake` counts the new lines of this run; `net` returns the net revenue of a month, in
  /// millionths of a US dollar.
  init(
    plan: Plan, rules: FoldSettings, breaks: [Break], archives: [ArchiveRecord],
    intake: ArchiveCounts = ArchiveCounts(), tornSnapshots: TornSnapshots? = nil,
    sumsBeyond: String? = nil, net: (Month) throws -> Int128
  ) throws {
    stale = breaks.filter { $0.code == .staleInput && plan.failOn.includes($0) }
    gate = plan.failOn
    isDryRun = plan.isDryRun
    gated = breaks.count { plan.failOn.includes($0) }
    self.tornSnapshots = tornSnapshots.flatMap {
      Self.exceeds($0.rejected, of: $0.lines, plan.rejectedShare) ? $0 : nil
    }
    let judged = intake.lines - intake.skipped
    newRejects =
      Self.exceeds(intake.rejected, of: judged, plan.rejectedShare)
      ? "\(intake.rejected) of \(judged) lines that are new in this run were rejected" : nil
    readRejects(archives, share: plan.rejectedShare)
    if let sumsBeyond { qualifications.append(sumsBeyond) }
    try readMateriality(breaks, rules, share: plan.materialityShare, net)
  }

  /// With reservations when the set is qualified, the input rejected too often, or the gate hit.
  var outcome: RunResult {
    reservations.isEmpty ? .done : .reservations
  }

  /// Why somebody should look at the set, in words for the log.
  var reservations: [String] {
    let published = isDryRun ? "would be published" : "published"
    var reservations = qualifications.map { "\(published) with reservations: \($0)" }
    if let newRejects { reservations.append(newRejects) }
    if let tornSnapshots { reservations.append(tornSnapshots.text) }
    for found in stale { reservations.append("input is stale: \(found.evidence)") }
    if gated > 0 {
      reservations.append("breaks at or above --fail-on \(gate.rawValue): \(gated), see breaks.csv")
    }
    return reservations
  }

  /// More than `share` of the lines that should be events are rejected, and at least 20.
  private mutating func readRejects(_ archives: [ArchiveRecord], share: Amount) {
    let events = archives.filter { $0.kind == .events }
    let rejected = events.reduce(0) { $0 + $1.counts.rejected }
    let judged = events.reduce(0) { $0 + $1.counts.lines - $1.counts.skipped }
    if Self.exceeds(rejected, of: judged, share) {
      qualifications.append("\(rejected) of \(judged) lines were rejected")
    }
    for archive in events {
      let judged = archive.counts.lines - archive.counts.skipped
      guard Self.exceeds(archive.counts.rejected, of: judged, share) else { continue }
      qualifications.append(
        "\(archive.counts.rejected) of \(judged) lines of \(archive.name) were rejected")
    }
  }

  private static func exceeds(_ rejected: Int64, of judged: Int64, _ share: Amount) -> Bool {
    rejected >= 20 && Int128(rejected) * 1_000_000 > Int128(judged) * Int128(share.micros)
  }

  /// Open breaks worth more than `share` of a month's net revenue.
  ///
  /// One without a business time counts at as-of, as in `quality_monthly.csv`.
  private mutating func readMateriality(
    _ breaks: [Break], _ rules: FoldSettings, share: Amount,
    _ net: (Month) throws -> Int128
  ) throws {
    var doubtful: [Month: Int128] = [:]
    for found in breaks where found.status == .open && found.environment == .production {
      guard let amount = found.estimatedUSD else { continue }
      let at = found.expectedAt ?? rules.asOf - Interval(milliseconds: 1)
      doubtful[rules.calendar.month(of: at), default: 0] += Int128(amount.magnitude.micros)
    }
    let percent = Amount(micros: share.micros * 100).text(decimalsMin: 0)
    for (month, amount) in doubtful.sorted(by: { $0.key < $1.key }) {
      let revenue = try net(month)
      guard amount * 1_000_000 > max(0, revenue) * Int128(share.micros) else { continue }
      qualifications.append(
        "open breaks of \(month.text) are worth \(dollars(amount)) USD, more than "
          + "\(percent) % of its net revenue of \(dollars(revenue)) USD")
    }
  }

  private func dollars(_ micros: Int128) -> String {
    Amount(micros: Int64(clamping: micros)).text()
  }
}

extension TornSnapshots {
  /// The rejected lines and their effect, as text for the log.
  var text: String {
    let name = newest.shown()
    let place = files == 1 ? name : "\(files) files of snapshots, the last of them \(name),"
    let first = firstReject.map { " (\($0))" } ?? ""
    return "\(rejected) of \(lines) lines of \(place) were rejected\(first): their users are "
      + "not compared, and users missing from snapshots raise no breaks until whole files come"
  }
}

extension Plan.FailOn {
  /// Whether a break of this rank makes the exit code 1.
  func includes(_ found: Break) -> Bool {
    switch self {
    case .none: false
    case .pending: found.status != .resolved
    case .open: found.status == .open
    case .critical: found.status == .open && found.severity == .critical
    }
  }
}

extension Plan {
  /// Contribution of rejected lines that qualifies the set; 1 % by default.
  var rejectedShare: Amount { configuration.rejectedShare ?? Amount(micros: 10_000) }

  /// Contribution of a month's net revenue that open breaks may be worth; 0.5 % by default.
  var materialityShare: Amount { configuration.materialityShare ?? Amount(micros: 5_000) }
}
