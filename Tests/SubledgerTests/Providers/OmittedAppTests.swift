import TestSupport
import Testing

@Suite("A body of Purple without packageName belongs to the only app that fits")
struct OmittedAppTests {
  private func event(_ type: String, _ millis: Int64, _ properties: String) -> String {
    #"{"version":"1.0","type":"\#(type)","properties":{\#(properties)},"#
      + #""eventTimeMillis":\#(millis)}"# + "\n"
  }

  /// The purchase members of each event except the documented example.
  private func purchase(of device: String, _ number: Int, in app: String) -> String {
    #""packageName":"\#(app)","deviceId":"\#(device)","productId":"monthly","#
      + #""transactionId":"200000090000003\#(number)","#
      + #""originalTransactionId":"200000090000003\#(number)""#
  }

  /// Purchases on 10 January, the documented example ten days later, and an expiry on 10 February.
  private func rows(_ apps: String...) throws -> [String] {
    let program = try Program()
    var lines = ""
    for (number, app) in apps.enumerated() {
      let bought = purchase(of: "dev-1", number, in: app)
      lines += event("SUBSCRIPTION_PURCHASED", 1_768_003_200_000, bought)
      lines += event("SUBSCRIPTION_EXPIRED", 1_770_681_600_000, bought)
      lines += event("SUBSCRIPTION_PURCHASED", 1_771_459_200_000, purchase(of: "dev-2", 5, in: app))
    }
    lines += event(
      "SUBSCRIPTION_CANCELLED", 1_768_867_200_000, #""deviceId":"dev-1","productId":"monthly""#)
    try program.folder.write(lines, to: "in/a.jsonl")
    try program.folder.write("periods: {monthly: P31D}\n", to: "subledger.yaml")
    try program.run(["run", "--archives", "in", "--as-of", "2026-02-20"]).ended(0)
    // If several apps fit, bodies without an app form their own feed, which is stale.
    let stale = try program.rows("breaks.csv").filter { $0["code"] == "STALE_INPUT" }
    #expect(stale.count == (apps.count == 1 ? 0 : 1))
    return try program.rows("churn_monthly.csv").filter { $0["churned"] != "0" }.map { row in
      ["app_id", "churned_voluntary", "churned_unknown"].map { row[$0] ?? "" }
        .joined(separator: " ")
    }
  }

  @Test("The documented example cancels the subscription of the only app")
  func only() throws { #expect(try rows("com.example.reader") == ["com.example.reader 1 0"]) }

  @Test("If the user has the product in two apps, neither is canceled")
  func two() throws {
    #expect(
      try rows("com.example.news", "com.example.reader")
        == ["com.example.news 0 1", "com.example.reader 0 1"])
  }

  @Test("A subscription that Qonversion reports, too, continues from the only app")
  func linked() throws {
    let program = try Program()
    var renewed = Body(at: 1_768_003_200)
    renewed.members["transaction"] = Body.transaction(
      2001, of: 2000, from: 1_768_003_200, until: 1_770_681_600)
    let previous =
      #""deviceId":"dev-1","productId":"monthly","transactionId":"2000","#
      + #""originalTransactionId":"2000""#
    let lines =
      renewed.line + "\n" + event("SUBSCRIPTION_PURCHASED", 1_767_312_000_000, previous)
      + event(
        "SUBSCRIPTION_PURCHASED", 1_768_521_600_000,
        purchase(of: "dev-2", 5, in: "com.example.reader"))
    try program.folder.write(lines, to: "in/a.jsonl")
    try program.run(["run", "--archives", "in", "--as-of", "2026-01-20"]).ended(0, 1)
    let transfers = try program.rows("churn_monthly.csv").compactMap { row in
      ["transfer_in", "transfer_out"].contains { row[$0] != "0" }
        ? ["provider", "app_id", "transfer_in", "transfer_out"].map { row[$0] ?? "" } : nil
    }
    #expect(
      transfers == [
        ["purple", "com.example.reader", "0", "1"], ["qonversion", "1234567890", "1", "0"],
      ])
  }

  @Test("The feed of the only app begins with the first body, also with one without app")
  func begin() throws {
    let program = try Program()
    var lines = ""
    for day in Int64(0)..<60 {
      let app = day < 40 ? "" : #""packageName":"com.example.reader","#
      lines += event(
        "PRODUCT_PURCHASED", 1_767_268_800_000 + day * 86_400_000,
        app + #""productId":"coins","transactionId":"30000009\#(day)","deviceId":"dev-\#(day)""#)
    }
    let listed =
      #"{"provider":"purple","user_id":"dev-99","captured_at":1772280000,"entitlements":"#
      + #"[{"id":"pro","product_id":"monthly","active":false,"expires_at":1770724800,"#
      + #""transactions":[{"transaction_id":"20000009","original_transaction_id":"20000009","#
      + #""type":"purchase","transaction_at":1768132800,"expires_at":1770724800}]}]}"#
    try program.folder.write(lines, to: "in/a.jsonl")
    try program.folder.write(listed, to: "snapshots/a.jsonl")
    try program.run([
      "run", "--archives", "in", "--snapshots", "snapshots", "--as-of", "2026-03-02",
    ]).ended(0, 1)
    let breaks = try program.rows("breaks.csv").map { [$0["code"], $0["app_id"]] }
    #expect(breaks == [["MISSED_START", "com.example.reader"]])
  }
}
