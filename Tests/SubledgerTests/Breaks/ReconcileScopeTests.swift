import Foundation
import TestSupport
import Testing

@Suite("A run compares only users with new data, and publishes what a replay does")
struct ReconcileScopeTests {
  private let program: Program

  init() throws {
    program = try Program()
    try program.folder.write("materiality: 100%\n", to: "subledger.yaml")
  }

  private static func second(_ day: Int) -> Int { 1_767_225_600 + day * 86_400 }

  /// A charge of `user` on a day of 2026 from 1 January, for a month of 30 days.
  private func charge(
    _ name: String, _ user: String, _ day: Int, id: Int, original: Int? = nil
  ) -> String {
    Body(name, of: user, day, id: id, original: original ?? id, until: day + 30).line + "\n"
  }

  /// A user's snapshot on a day: purchases by id and day, each for 30 days.
  private func shown(_ user: String, at day: Int, _ purchases: [(id: Int, original: Int, day: Int)])
    -> String
  {
    let listed = purchases.map { id, original, day in
      #"{"transaction_id":"\#(id)","original_transaction_id":"\#(original)","#
        + #""type":"subscription_\#(id == original ? "started" : "renewed")","#
        + #""transaction_at":\#(Self.second(day)),"#
        + #""expires_at":\#(Self.second(day + 30))}"#
    }
    let end = Self.second((purchases.map(\.day).max() ?? 0) + 30)
    return #"{"provider":"qonversion","user_id":"\#(user)","captured_at":\#(Self.second(day)),"#
      + #""entitlements":[{"id":"premium","product_id":"com.example.monthly","expires_at":\#(end),"#
      + #""source":"app_store","transactions":[\#(listed.joined(separator: ","))]}]}"# + "\n"
  }

  /// Runs the next run with new input as of a day; returns the number of compared users.
  ///
  /// Checks that one run over everything gives the same numbers and breaks.
  private func night(_ day: Int, events: String = "", snapshots: String = "") throws -> Int {
    if !events.isEmpty { try program.folder.write(events, to: "in/\(1000 + day).jsonl") }
    if !snapshots.isEmpty { try program.folder.write(snapshots, to: "snap/\(1000 + day).jsonl") }
    let arguments = [
      "run", "--archives", "in", "--snapshots", "snap", "--as-of",
      Date(timeIntervalSince1970: Double(Self.second(day))).ISO8601Format(), "--verbose",
    ]
    let result = try program.run(arguments).ended(0, 1)
    try program.run(
      arguments + ["--ledger", "whole-\(day).sqlite", "--out", "whole-\(day)"]
    ).ended(0, 1)
    let found = differences(
      try timeless(program), try timeless(program, "whole-\(day)"))
    #expect(found.filter { $0 != "breaks.csv" }.isEmpty, "day \(day): \(found)")
    #expect(try breaks() == breaks(in: "whole-\(day)"), "day \(day)")
    #expect(
      try program.run(["verify", "--ledger", "subledger.sqlite", "--replay"]).status == 0,
      "day \(day)")
    let words = try #require(result.errors.firstMatch(of: /reconciled (\d+) user/), "\(result)")
    return Int(words.1) ?? -1
  }

  private func breaks(in out: String = "reports") throws -> [String] {
    try program.rows("breaks.csv", in: out).filter {
      $0["status"] != "resolved" && $0["user_id"] != ""
    }
    .map { "\($0["code"] ?? "") \($0["user_id"] ?? "") \($0["status"] ?? "")" }.sorted()
  }

  /// Ten users, each with a purchase and a snapshot on the fifth day.
  private func begin() throws -> Int {
    let users = 1...10
    return try night(
      6,
      events: users.map { charge("subscription_started", "u\($0)", 1, id: 100 * $0) }.joined(),
      snapshots: users.map { shown("u\($0)", at: 5, [(100 * $0, 100 * $0, 1)]) }.joined())
  }

  @Test("Without new data no user is compared; with data of one user, only that one")
  func quiet() throws {
    #expect(try begin() == 10)
    #expect(try night(7) == 0)
    let coins = charge("in_app_purchase", "u3", 7, id: 999)
    #expect(try night(8, events: coins) == 1)
    #expect(try breaks() == [])
  }

  @Test("A snapshot with unchanged content needs no comparison, unless a period has ended")
  func captures() throws {
    #expect(try begin() == 10)
    let again = (1...10).map { shown("u\($0)", at: 8, [(100 * $0, 100 * $0, 1)]) }.joined()
    #expect(try night(9, snapshots: again) == 0)
    // The renewal of one of them was lost.
    let other = shown("u4", at: 10, [(400, 400, 1), (401, 400, 9)])
    #expect(try night(11, snapshots: other) == 1)
    let pending = try breaks()
    #expect(pending == ["MISSED_RENEWAL u4 pending"])
    // Users with breaks are compared in every run; all periods have ended at the last capture.
    #expect(try night(12) == 1)
    let ended = (5...10).map { shown("u\($0)", at: 40, [(100 * $0, 100 * $0, 1)]) }.joined()
    #expect(
      try night(41, events: charge("in_app_purchase", "u1", 40, id: 998), snapshots: ended) > 5)
  }

  @Test("A late event explains a break, and an older snapshot changes nothing")
  func late() throws {
    _ = try begin()
    _ = try night(11, snapshots: shown("u4", at: 10, [(400, 400, 1), (401, 400, 9)]))
    #expect(
      try night(12, events: charge("subscription_renewed", "u4", 9, id: 401, original: 400)) == 1)
    #expect(try breaks() == [])
    // It was captured before the snapshot that was compared last.
    #expect(try night(13, snapshots: shown("u4", at: 9, [(400, 400, 1)])) == 1)
    #expect(try breaks() == [])
  }

  @Test("A purchase in another user's snapshot concerns both users, then and later")
  func transferred() throws {
    _ = try begin()
    // The first user's account moved to the second.
    #expect(
      try night(8, snapshots: shown("u2", at: 7, [(100, 100, 1), (200, 200, 1)])) == 2)
    #expect(
      try night(10, events: charge("subscription_renewed", "u1", 9, id: 101, original: 100)) == 2)
    #expect(try night(12, snapshots: shown("u2", at: 11, [(200, 200, 1)])) == 2)
    // An unreported purchase is listed, and then another user reports it.
    _ = try night(14, snapshots: shown("u5", at: 13, [(500, 500, 1), (777, 777, 12)]))
    #expect(try breaks().contains("MISSED_START u5 pending"))
    _ = try night(15, events: charge("subscription_started", "u6", 12, id: 777))
    #expect(try night(16, events: charge("in_app_purchase", "u7", 15, id: 997)) >= 1)
  }

  @Test("An earlier as-of compares all users, and later data counts as new afterwards")
  func back() throws {
    _ = try begin()
    _ = try night(11, snapshots: shown("u4", at: 10, [(400, 400, 1), (401, 400, 9)]))
    #expect(try night(7, events: charge("in_app_purchase", "u7", 6, id: 996)) >= 1)
    #expect(try night(12, events: charge("in_app_purchase", "u8", 11, id: 995)) >= 2)
    let pending = try breaks()
    #expect(pending == ["MISSED_RENEWAL u4 pending"])
  }
}
