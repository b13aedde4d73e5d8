internal import GRDB
public import Vocabulary

extension Ledger {
  /// Puts `facts` in the place of all facts, whole or not at all.
  public func replaceFacts(_ facts: Facts) throws(LedgerError) {
    try change("write the facts") { database in
      try facts.revenueRows.replace(in: database)
      try facts.movementRows.replace(in: database)
      try facts.renewalRows.replace(in: database)
      try facts.trialRows.replace(in: database)
      try facts.retentionRows.replace(in: database)
      try facts.excludedRows.replace(in: database)
      try facts.arrivalRows.replace(in: database)
      try facts.coverageRows.replace(in: database)
    }
  }
}

/// The columns of each table of facts, in the order of v1-facts.sql.
extension Facts {
  var revenueRows: CellRows {
    var rows = CellRows(
      table: "revenue_cell", keyWidth: 12, width: 26, count: revenue.count)
    for (key, sums) in revenue {
      rows.append(
        Int64(key.day.number), Int64(key.offering.provider.rawValue), Int64(key.offering.app),
        Int64(key.offering.store.rawValue), Int64(key.offering.product),
        Int64(key.productType.rawValue), Int64(key.chargeKind.rawValue), Int64(key.country),
        Int64(key.storefront), Int64(key.currency), key.rate?.micros ?? -1,
        Int64(key.basis.rawValue), sums.charges, sums.refunds,
        sums.grossUSD.sum.micros, sums.grossUSD.unknown,
        sums.refundsUSD.sum.micros, sums.refundsUSD.unknown,
        sums.proceedsUSD.sum.micros, sums.proceedsUSD.unknown,
        sums.grossLocal.sum.micros, sums.grossLocal.unknown,
        sums.refundsLocal.sum.micros, sums.refundsLocal.unknown,
        sums.proceedsLocal.sum.micros, sums.proceedsLocal.unknown)
    }
    return rows
  }

  var movementRows: CellRows {
    var rows = CellRows(
      table: "movement_cell", keyWidth: 6, width: 8, count: movements.count)
    for (key, sums) in movements {
      rows.append(
        Int64(key.day.number), Int64(key.offering.provider.rawValue), Int64(key.offering.app),
        Int64(key.offering.store.rawValue), Int64(key.offering.product),
        Int64(key.movement.rawValue), sums.subscriptions, sums.mrr.micros)
    }
    return rows
  }

  var renewalRows: CellRows {
    var rows = CellRows(
      table: "renewal_cell", keyWidth: 6, width: 8, count: renewals.count)
    for (key, sums) in renewals {
      rows.append(
        Int64(key.day.number), Int64(key.offering.provider.rawValue), Int64(key.offering.app),
        Int64(key.offering.store.rawValue), Int64(key.offering.product),
        key.ordinal.map(Int64.init) ?? -1, sums.renewals, sums.refunded)
    }
    return rows
  }

  var trialRows: CellRows {
    var rows = CellRows(
      table: "trial_cell", keyWidth: 5, width: 10, count: trials.count)
    for (key, sums) in trials {
      rows.append(
        Int64(key.day.number), Int64(key.offering.provider.rawValue), Int64(key.offering.app),
        Int64(key.offering.store.rawValue), Int64(key.offering.product), sums.started,
        sums.converted, sums.canceled, sums.expired, sums.pending)
    }
    return rows
  }

  var retentionRows: CellRows {
    var rows = CellRows(
      table: "retention_cell", keyWidth: 6, width: 10, count: retention.count)
    for (key, sums) in retention {
      rows.append(
        Int64(key.cohort.number), Int64(key.offering.provider.rawValue), Int64(key.offering.app),
        Int64(key.offering.store.rawValue), Int64(key.offering.product), Int64(key.index),
        sums.joined, sums.activeChange, sums.netUSD.sum.micros, sums.netUSD.unknown)
    }
    return rows
  }

  var excludedRows: CellRows {
    var rows = CellRows(
      table: "excluded_cell", keyWidth: 4, width: 6, count: excluded.count)
    for (key, sums) in excluded {
      rows.append(
        Int64(key.day.number), Int64(key.provider.rawValue), Int64(key.app),
        Int64(key.reason.rawValue), sums.events, sums.charges)
    }
    return rows
  }

  var arrivalRows: CellRows {
    var rows = CellRows(
      table: "arrival_cell", keyWidth: 3, width: 5, count: arrivals.count)
    for (key, sums) in arrivals {
      rows.append(
        Int64(key.day.number), Int64(key.provider.rawValue), Int64(key.kind.rawValue),
        sums.outOfOrder, sums.late)
    }
    return rows
  }

  var coverageRows: CellRows {
    var rows = CellRows(
      table: "coverage_cell", keyWidth: 4, width: 5, count: gaps.count)
    for (key, events) in gaps {
      rows.append(
        Int64(key.day.number), Int64(key.provider.rawValue), Int64(key.app),
        Int64(key.gap.rawValue), events)
    }
    return rows
  }
}
