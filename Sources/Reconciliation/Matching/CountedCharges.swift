import Domain
import Subscriptions

/// Charges whose renewals are counted from a first one.
struct CountedCharges {
  /// In business order, each with its counter.
  var charges: [Charge]
  /// Whether the numbers are from Play's order ids and not from the provider's counter.
  var isByOrder = false
  /// Whether the first charge follows a known start or is the start.
  var isFromStart = false

  /// Whether no number is missing before the charge at `time`.
  func isNext(at time: Instant) -> Bool {
    guard isByOrder, let index = charges.firstIndex(where: { $0.time == time }),
      let number = charges[index].renewalCount
    else { return false }
    guard index > 0 else { return isFromStart && number == 0 }
    return number == (charges[index - 1].renewalCount ?? 0) + 1
  }
}

extension LineageInput {
  /// The charges of the subscription as their provider counts them; on Play without a counter, the
  /// charges of each first order, by the number at the end of the order id.
  ///
  /// `..0` is the first renewal; after a trial it is the conversion.
  var countedCharges: [CountedCharges] {
    let paid = latest.subscriptionCharges
    guard latest.store == .playStore, paid.allSatisfy({ $0.renewalCount == nil }) else {
      return [CountedCharges(charges: paid)]
    }
    let tried = Set(latest.trials.map { order($0.transaction).first })
    var (groups, places): ([CountedCharges], [ExactText: Int]) = ([], [:])
    for var charge in paid {
      let (first, number) = order(charge.transaction)
      let isTried = tried.contains(first)
      charge.renewalCount = number.map { isTried ? $0 : $0 + 1 }
      if let place = places[first] {
        groups[place].charges.append(charge)
      } else {
        places[first] = groups.count
        groups.append(
          CountedCharges(charges: [charge], isByOrder: true, isFromStart: isTried || number == nil))
      }
    }
    return groups
  }

  /// How many of Play's orders end with the one of `transaction`, after the last one before it that
  /// an event names; nil if no such order is known.
  func orders(until transaction: Int64) -> Int64? {
    let (first, number) = order(transaction)
    guard let number else { return nil }
    let known = latest.transactions.map(order).filter { $0.first == first }.map { $0.number ?? -1 }
    return known.filter { $0 < number }.max().map { Int64(number - $0) }
  }

  /// The first order of a transaction and its renewal's number; nil for the first order itself.
  private func order(_ transaction: Int64) -> (first: ExactText, number: Int32?) {
    let id = transactionText(transaction)
    guard id.hasPrefix("GPA."), let dots = id.firstRange(of: ".."),
      let number = Int32(id[dots.upperBound...]), (0..<Event.renewalCountMax).contains(number)
    else { return (ExactText(id), nil) }
    return (ExactText(String(id[..<dots.lowerBound])), number)
  }
}
