import Foundation
import EventStore
import Domain
import Reports

@testable import Pipeline

/// Price books: accepted, or refused with a reason; records are read back after all fields are
/// quoted.
func feedPrices(_ bytes: UnsafeRawBufferPointer) {
  if let records = csv(Array(bytes)) {
    let written = records.map { record in
      Array(record.map(quotedField).joined(separator: [UInt8(ascii: ",")]))
    }
    let again = csv(Array(written.joined(separator: [UInt8(ascii: "\r"), UInt8(ascii: "\n")])))
    claim(again == records, "records that are written again come back")
  }
  do throws(SubledgerError) {
    let list = try PriceBookFile(Array(bytes), named: "prices.csv", calendar: .utc)
    claim(Set(list.lines.map(\.key)).count == list.lines.count, "no two lines say the same")
    for line in list.lines {
      claim(line.local ?? .zero >= .zero && line.usd ?? .zero >= .zero, "prices are not negative")
      claim(line.rate ?? .zero <= Amount(micros: 100_000_000), "a rate is at most 100")
      claim(!line.key.product.text.isEmpty, "a price is that of a product")
    }
  } catch {
    judge(error)
  }
}

/// Configurations: accepted, or refused with a reason; an accepted one gives a plan whose settings
/// are within the limits that other modules rely on.
func feedConfiguration(_ bytes: UnsafeRawBufferPointer) {
  ScratchFile.settings.write(bytes)
  do throws(SubledgerError) {
    let flags = ["config": [ScratchFile.settings.path]]
    let given = GivenSettings(flags: flags, environment: [:])
    let configuration = try given.accepted()
    guard configuration.job.prices == nil, configuration.job.decisions == nil else {
      return
    }
    let plan = Plan(given, now: Instant(seconds: 1_772_323_200))
    claim(plan.valueBytesMax > 0, "a value may have a byte")
    claim(plan.valueBytesMax <= 1 << 30, "a value fits the tape")
    let lengths =
      [plan.rules.renewalGap, plan.rules.retryHorizon]
      + [plan.configuration.freshnessMax[.qonversion, ""]].compactMap(\.self)
      + plan.rules.deliveryWindows.values
    for length in lengths {
      claim(length >= Interval(milliseconds: 0), "no length of time is negative")
      claim(length <= .days(1_000_000), "a length of time leaves room for sums")
    }
  } catch {
    judge(error)
  }
}

/// Decisions: accepted, or refused with a reason; each break is decided once.
func feedDecisions(_ bytes: UnsafeRawBufferPointer) {
  do throws(SubledgerError) {
    let decisions = try DecisionsFile(Array(bytes), named: "decisions.yaml").decisions
    claim(Set(decisions.map(\.breakID)).count == decisions.count, "a break is decided once")
    for decision in decisions {
      claim(decision.breakID.utf8.count == 16, "a break's id has 16 digits")
      claim(!decision.reason.isEmpty && !decision.who.isEmpty, "a decision has reason and author")
    }
  } catch {
    judge(error)
  }
}

/// A quoted field, byte for byte: a quote followed by a combining mark is another Character.
private func quotedField(_ field: String) -> [UInt8] {
  let quote = UInt8(ascii: "\"")
  return [quote] + field.utf8.flatMap { $0 == quote ? [quote, quote] : [$0] } + [quote]
}

/// The fields of each line; nil if the text is not UTF-8, or a line is refused.
private func csv(_ bytes: [UInt8]) -> [[String]]? {
  guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
  var records: [[String]] = []
  for line in text.split(whereSeparator: \.isNewline) {
    guard let fields = CSVRow.cells(of: String(line)) else { return nil }
    records.append(fields)
  }
  return records
}

private func judge(_ error: SubledgerError) {
  claim(!error.message.isEmpty, "an error says what is wrong")
  claim(!error.hint.isEmpty, "an error says what to do")
}
