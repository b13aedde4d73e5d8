public import Domain
import Foundation

// Scenario → CustomerSimulation (what happened) → what each provider sends of it → deliveries →
// archives; what customers own at the end → snapshots; what reports must show → truth. A customer
// is simulated again whenever needed; each arrival is kept in 16 bytes.

/// Writes a synthetic scenario: archives, snapshots, a configuration, the truth and, if one of its
/// providers sends no money, a price book.
///
/// Equal scenarios give equal bytes. `stop` is checked between customers.
///
/// - Throws: `SubledgerError` for an impossible scenario, a folder that already contains one or one
///   of its files, or output that cannot be written.
public func simulate(
  _ scenario: Scenario, into folder: String, stop: @escaping () -> Int32 = { 0 }
) throws(SubledgerError) -> SimulationSummary {
  try scenario.check()
  for name in ["archives", "snapshots", "truth", "subledger.yaml", "prices.csv"] {
    let path = "\(folder)/\(name)"
    if FileManager.default.fileExists(atPath: path) {
      throw SubledgerError(
        .cannotCreate, "cannot write the scenario: \(path) exists already",
        hint: "choose another folder")
    }
  }
  let checkStop: StopCheck = { () throws(SubledgerError) in
    let signal = stop()
    if signal != 0 {
      throw SubledgerError(
        .stopped(signal), "interrupted by signal \(signal): the scenario is incomplete",
        hint: "remove the folder")
    }
  }
  let arrivals = try Arrivals(scenario, checkStop)
  var summary = arrivals.summary
  summary.archives = try arrivals.write(of: scenario, into: "\(folder)/archives", checkStop)
  try writeTruth(arrivals, scenario, into: folder, checkStop)
  try write(configurationText(), to: "\(folder)/subledger.yaml")
  if scenario.senders != [.qonversion] {
    try write(scenario.priceBook, to: "\(folder)/prices.csv")
    try write(scenario.coverage, to: "\(folder)/truth/coverage.csv")
  }
  return summary
}

/// Throws if a signal asked to stop.
typealias StopCheck = () throws(SubledgerError) -> Void

/// Writes truth and snapshots, customer by customer.
private func writeTruth(
  _ arrivals: Arrivals, _ scenario: Scenario, into folder: String, _ checkStop: StopCheck
) throws(SubledgerError) {
  var truth = try TruthFolder("\(folder)/truth", span: scenario.span, hours: arrivals.hours)
  var snapshots = try SnapshotWriter("\(folder)/snapshots", scenario)
  for number in 0..<arrivals.summary.subscribers {
    try checkStop()
    for customer in scenario.histories(of: number, by: scenario.senders) {
      try truth.add(customer, scenario.deliveries(of: customer))
      if !customer.movesAway { try snapshots.add(customer) }
    }
  }
  try truth.finish()
  try snapshots.finish()
}

/// The configuration for a scenario: dashboard and store products, and periods.
private func configurationText() -> String {
  var products = "products:\n"
  var periods = "periods:\n"
  for app in App.allCases {
    for product in Product.allCases {
      let id = app.storeID(of: product)
      products += "  \(app.dashboardID(of: product)): [\(id)]\n"
      if let period = product.isoPeriod { periods += "  \(id): \(period)\n" }
    }
  }
  return products + periods
}
