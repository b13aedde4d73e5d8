import Foundation
import Domain

/// Writes a synthetic world: archives, snapshots, a configuration, and the truth about all three;
/// and a price book when a provider tells of it that sends no money.
///
/// - Parameters:
///   - plan: what the world is made of; equal plans give equal bytes.
///   - folder: where `archives/`, `snapshots/`, `truth/`, `subledger.yaml` and `prices.csv` go.
///   - stop: answers the signal that asked to stop, 0 while none did; asked between lives.
/// - Returns: what was written, in numbers.
/// - Throws: `SimulateError` for an impossible plan, a folder that holds a world or such a file
///   already, or an output that cannot be written.
public func simulate(
  _ plan: WorldPlan, into folder: String, stop: @escaping () -> Int32 = { 0 }
) throws(SimulateError) -> SimulationSummary {
  try check(plan)
  for name in ["archives", "snapshots", "truth", "subledger.yaml", "prices.csv"] {
    let path = "\(folder)/\(name)"
    if FileManager.default.fileExists(atPath: path) { throw .occupied(path: path) }
  }
  let span = Span(plan)
  let checkStop: StopCheck = { () throws(SimulateError) in
    let signal = stop()
    if signal != 0 { throw .stopped(signal: signal) }
  }
  let census = try Census(plan, span, checkStop)
  var summary = census.summary
  summary.archives = try ArchiveWriter(
    plan: plan, span: span, subscribers: census.summary.subscribers,
    folder: "\(folder)/archives", arrivalsByDay: census.arrivalsByDay,
    checkStop: checkStop
  ).write()
  summary.snapshotUsers = try tell(census, plan, span, into: folder, checkStop)
  try write(configurationText(), to: "\(folder)/subledger.yaml")
  if plan.tellers != [.qonversion] {
    try write(ListedPrices(span: span).text, to: "\(folder)/prices.csv")
    try write(Coverage(plan).table.text, to: "\(folder)/truth/coverage.csv")
  }
  return summary
}

/// Throws when a signal asked to stop.
typealias StopCheck = () throws(SimulateError) -> Void

/// Writes truth and snapshots, life by life.
private func tell(
  _ census: Census, _ plan: WorldPlan, _ span: Span, into folder: String, _ checkStop: StopCheck
) throws(SimulateError) -> [SnapshotShape: Int] {
  let office = PostOffice(plan)
  var truth = try TruthFolder(
    "\(folder)/truth", span: span, watermarks: census.watermarks)
  var snapshots = try SnapshotWriter("\(folder)/snapshots", plan, span)
  for number in 0..<census.summary.subscribers {
    try checkStop()
    let lived = Story.life(of: number, in: plan, span: span)
    for life in plan.tellers.compactMap({ lived.told(by: $0, span) }) {
      try truth.add(life, life.happenings.indices.map { office.delivery(of: $0, in: life) })
      try snapshots.add(life)
    }
  }
  try truth.finish()
  try snapshots.finish()
  return snapshots.users
}

private func check(_ plan: WorldPlan) throws(SimulateError) {
  let shares = [
    plan.lostShare, plan.duplicatedShare, plan.delayedShare, plan.reorderedShare,
  ]
  guard shares.allSatisfy((0...1_000_000).contains), shares.reduce(0, +) <= 1_000_000 else {
    throw .plan(reason: "the shares of fates are negative or exceed a million together")
  }
  guard (0...1_000_000).contains(plan.sandboxShare), (0...1_000_000).contains(plan.envelopedShare)
  else { throw .plan(reason: "a share is not between 0 and a million") }
  guard !plan.providers.isEmpty else { throw .plan(reason: "nobody tells of the world") }
  guard (1...120).contains(plan.months) else {
    throw .plan(reason: "a world lasts from 1 to 120 months")
  }
  guard plan.start.milliseconds % Interval.day.milliseconds == 0 else {
    throw .plan(reason: "a world starts at a UTC midnight")
  }
  guard (1...1_000_000_000).contains(plan.events ?? 1) else {
    throw .plan(reason: "a world has from 1 to 1,000,000,000 events")
  }
  guard (1...100_000_000).contains(plan.subscribers) else {
    throw .plan(reason: "a world has from 1 to 100,000,000 subscribers")
  }
  if case .count(let count) = plan.archives, !(1...1_000_000).contains(count) {
    throw .plan(reason: "a world has from 1 to 1,000,000 archives")
  }
}
