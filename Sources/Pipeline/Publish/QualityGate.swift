import EventStore
import Domain

/// Decides whether the numbers are published with reservations.
struct QualityGate {
  /// Why the set is qualified; empty when it is not.
  private(set) var qualifications: [String] = []
  /// Why the set needs attention, as text for the log: the qualifications, many rejected lines, and
  /// breaks that reach the gate.
  private(set) var reservations: [String] = []

  /// Checks the set; `intake` counts the new lines of this run; `net` returns the net revenue of a
  /// month, in millionths of a US dollar.
  init(
    plan: Plan, rules: FoldSettings, breaks: [Break], archives: [ArchiveRecord],
    intake: ArchiveCounts = ArchiveCounts(), incompleteSnapshots: IncompleteSnapshots? = nil,
    sumsBeyond: String? = nil, net: (Month) throws -> Int128
  ) throws {
    let events = archives.filter { $0.kind == .events }
    var sum = ArchiveCounts()
    for archive in events { sum.add(archive.counts) }
    let counts = [(sum, "lines")] + events.map { ($0.counts, "lines of \($0.name)") }
    qualifications = counts.compactMap { Self.rejects(in: $0, plan.rejectedShare, $1) }
    if let sumsBeyond { qualifications.append(sumsBeyond) }
    try readMateriality(breaks, rules, share: plan.materialityShare, net)
    let published = plan.isDryRun ? "would be published" : "published"
    reservations = qualifications.map { "\(published) with reservations: \($0)" }
    let new = Self.rejects(in: intake, plan.rejectedShare, "lines that are new in this run")
    if let new { reservations.append(new) }
    if let incompleteSnapshots,
      Self.exceeds(incompleteSnapshots.rejected, of: incompleteSnapshots.lines, plan.rejectedShare)
    {
      reservations.append(incompleteSnapshots.text)
    }
    let gated = breaks.filter {
      plan.failOn.includes(status: $0.status.rawValue, severity: $0.severity.rawValue)
    }
    for found in gated where found.code == .staleInput {
      reservations.append("input is stale: \(found.evidence)")
    }
    if !gated.isEmpty {
      reservations.append(
        "breaks at or above --fail-on \(plan.failOn.rawValue): \(gated.count), see breaks.csv")
    }
  }

  /// Describes the rejects when they are more than `share` of the lines, and at least 20; nil
  /// otherwise.
  private static func rejects(
    in counts: ArchiveCounts, _ share: Amount, _ lines: String
  ) -> String? {
    let judged = counts.lines - counts.skipped
    guard exceeds(counts.rejected, of: judged, share) else { return nil }
    return "\(counts.rejected) of \(judged) \(lines) were rejected"
  }

  private static func exceeds(_ rejected: Int64, of judged: Int64, _ share: Amount) -> Bool {
    rejected >= 20 && Int128(rejected) * 1_000_000 > Int128(judged) * Int128(share.micros)
  }

  /// Qualifies the set when open breaks amount to more than `share` of a month's net revenue.
  ///
  /// A break without a business time counts at as-of, as in `quality_monthly.csv`.
  private mutating func readMateriality(
    _ breaks: [Break], _ rules: FoldSettings, share: Amount,
    _ net: (Month) throws -> Int128
  ) throws {
    var doubtful: [Month: Int128] = [:]
    let open = breaks.filter { $0.status == .open && $0.environment == .production }
    let missing = open.filter(\.code.isMissing)
    for found in open {
      guard let amount = found.estimatedUSD else { continue }
      let at = found.expectedAt ?? rules.asOf - Interval(milliseconds: 1)
      let known = found.code == .feedGap ? worth(of: missing, in: found, rules) : 0
      doubtful[rules.calendar.month(of: at), default: 0] +=
        max(0, Int128(amount.magnitude.micros) - known)
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

  /// The worth of what breaks find missing in the hours of a gap of their feed: the gap's own worth
  /// contains it.
  private func worth(of missing: [Break], in gap: Break, _ rules: FoldSettings) -> Int128 {
    guard let begin = gap.expectedAt, let settled = gap.settlesAt else { return 0 }
    let hours = begin..<settled - rules.deliveryWindow(gap.provider)
    return missing.reduce(0) { sum, found in
      guard found.provider == gap.provider, gap.app.isEmpty || found.app == gap.app,
        let at = found.expectedAt, hours.contains(at), let amount = found.estimatedUSD
      else { return sum }
      return sum + Int128(amount.magnitude.micros / max(1, found.missingEvents))
    }
  }

  private func dollars(_ micros: Int128) -> String {
    Amount(micros: Int64(clamping: micros)).text()
  }
}

extension IncompleteSnapshots {
  /// The rejected lines and their effect, as text for the log.
  var text: String {
    let name = newest.shown()
    let place = files == 1 ? name : "\(files) files of snapshots, the last of them \(name),"
    let first = firstReject.map { " (\($0))" } ?? ""
    return "\(rejected) of \(lines) lines of \(place) were rejected\(first): their users are "
      + "not compared, and users missing from snapshots raise no breaks until whole files come"
  }
}
