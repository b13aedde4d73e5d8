import TestSupport
import Testing

@Suite("A snapshot that names its app is compared with purchases in that app")
struct AppSnapshotTests {
  /// A monthly subscription of user F1 reported by FLOBUK, from 10 May.
  private func subscription(_ product: String, order: String, app: String) -> String {
    line(app, user: "F1", order: order, at: 1_778_371_200, shown(product))
  }

  /// A small purchase of another user, so that the app is known to report at that time.
  private func sign(of app: String, order: String, at time: Int) -> String {
    line(
      app, user: "other", order: order, at: time,
      #"{"type":"Consumable","productId":"coins","sandbox":false}"#)
  }

  private func line(
    _ app: String, user: String, order: String, at time: Int, _ data: String
  ) -> String {
    #"{"receivedAt":\#(time),"headers":{"X-App-Id":"\#(app)"},"body":{"user":"\#(user)","#
      + #""timestamp":\#(time),"transaction":"GPA.\#(order)","store":"GooglePlay","#
      + #""data":\#(data)}}"#
  }

  /// The subscription until 10 June, as FLOBUK shows it.
  private func shown(_ product: String) -> String {
    #"{"status":0,"type":"Subscription","expiresDate":1781049600,"autoRenew":true,"#
      + #""billingRetry":false,"productId":"\#(product)","sandbox":false}"#
  }

  private func snapshot(_ app: String, _ products: [String]) -> String {
    let purchases = products.map { "{\"data\":\(shown($0))}" }.joined(separator: ",")
    return #"{"user":"F1","app_id":"\#(app)","captured_at":"2026-06-09T12:00:00Z","#
      + #""purchases":[\#(purchases)]}"#
  }

  /// Codes and apps of the breaks as of 10 June.
  private func breaks(
    _ reported: [String], _ snapshots: [String], isComplete: Bool = false
  ) throws -> [String] {
    let program = try Program()
    let signs = ["one", "two"].flatMap { app in
      [
        sign(of: app, order: "\(app)1", at: 1_764_547_200),
        sign(of: app, order: "\(app)2", at: 1_781_035_200),
      ]
    }
    try program.folder.write((signs + reported).joined(separator: "\n"), to: "in/a.jsonl")
    try program.folder.write(snapshots.joined(separator: "\n"), to: "snap/a.jsonl")
    try program.folder.write("snapshots:\n  complete: \(isComplete)\n", to: "subledger.yaml")
    try program.run([
      "run", "--archives", "in", "--snapshots", "snap", "--as-of", "2026-06-10",
    ]).ended(0, 1)
    return try program.rows("breaks.csv").map { "\($0["code"] ?? "") \($0["app_id"] ?? "")" }
  }

  @Test("An empty snapshot of another app does not contradict the one that lists the purchase")
  func emptyInTheOther() throws {
    let reported = [subscription("m", order: "7", app: "one")]
    #expect(try breaks(reported, [snapshot("one", ["m"]), snapshot("two", [])]) == [])
    #expect(
      try breaks(reported, [snapshot("one", []), snapshot("two", [])]) == ["AHEAD_OF_SNAPSHOT one"])
  }

  @Test("A user with purchases in two apps matches the snapshot of each", arguments: ["m", "n"])
  func both(second: String) throws {
    let reported = [
      subscription("m", order: "7", app: "one"), subscription(second, order: "8", app: "two"),
    ]
    #expect(try breaks(reported, [snapshot("one", ["m"]), snapshot("two", [second])]) == [])
    #expect(
      try breaks(reported, [snapshot("one", ["m"]), snapshot("two", [])])
        == ["AHEAD_OF_SNAPSHOT two"])
  }

  @Test("An app without a snapshot has nothing ahead, but a complete set lacks the user")
  func onlyOne() throws {
    let reported = [
      subscription("m", order: "7", app: "one"), subscription("n", order: "8", app: "two"),
    ]
    #expect(try breaks(reported, [snapshot("one", ["m"])]) == [])
    #expect(
      try breaks(reported, [snapshot("one", ["m"])], isComplete: true)
        .filter { !$0.contains("coins") } == ["SNAPSHOT_ABSENT two"])
  }

  @Test("A purchase without any event belongs to the app that sells its product")
  func seller() throws {
    let reported = [
      line(
        "one", user: "buyer", order: "1", at: 1_764_547_300, shown("only-of-one")),
      line("two", user: "buyer", order: "2", at: 1_764_547_300, shown("only-of-two")),
    ]
    let lost =
      #"{"user":"lost","captured_at":"2026-06-09T12:00:00Z","#
      + #""purchases":[{"data":\#(shown("only-of-two"))}]}"#
    #expect(try breaks(reported, [lost]) == ["EVENTS_ABSENT two"])
    #expect(try breaks([], [lost]) == ["EVENTS_ABSENT "])
  }
}
