import Testing
import Domain
import Formats

@testable import Providers

@Suite("Snapshot lines that are refused")
struct SnapshotRefusalTests {
  @Test(
    "Each refusal has its reason and the member's name",
    arguments: [
      (#"[{"id":"premium"}]"#, "missing_field", "user_id: a list does not name its user"),
      (#"{"captured_at":1,"data":[]}"#, "missing_field", "user_id"),
      (#"{"user_id":"u","captured_at":1}"#, "missing_field", "entitlements"),
      ("{}", "missing_field", "user_id"),
      ("7", "not_an_object", "the value is not a JSON object"),
      (
        #"{"error":{"type":"resource","code":"canary"},"_meta":{}}"#, "error_response",
        "the line is an error that a provider's API returned"
      ),
      (
        #"{"ok":false,"code":6,"message":"canary"}"#, "error_response",
        "the line is an error that a provider's API returned"
      ),
      (
        #"{"provider":"purple","user_id":"u","captured_at":1,"purchases":{}}"#, "missing_field",
        "entitlements"
      ),
      (
        #"{"user":"u","captured_at":1,"purchases":[{"data":{}}]}"#, "missing_field",
        "data.productId"
      ),
      (
        #"{"user":"u","captured_at":1,"purchases":[{"data":{"productId":"p"}},7]}"#, "bad_field",
        "purchases: expected a list of objects"
      ),
      (#"{"captured_at":1,"purchases":[{"data":{}}]}"#, "missing_field", "user_id"),
      (
        #"{"event_name":"canary","user_id":"u","time":1,"entitlements":{}}"#, "bad_field",
        "event_name: expected a snapshot, not a delivered event"
      ),
      (
        #"{"applicationUsername":"u","captured_at":1,"purchases":{"p":7}}"#, "bad_field",
        "purchases: expected purchases by product id"
      ),
      (
        #"{"captured_at":1,"rows":[{"applicationUsername":"canary","purchases":{}}]}"#, "bad_field",
        "rows.purchases: expected to be in a line of their own customer"
      ),
      (
        #"{"captured_at":1,"rows":[{"customerInfo":{}}]}"#, "missing_field",
        "rows.applicationUsername"
      ),
      (
        #"{"provider":"canary","user_id":"u","captured_at":1,"data":[]}"#, "unknown_provider",
        "provider: none of the known names"
      ),
      (
        #"{"user_id":"u","captured_at":"canary","data":[]}"#, "bad_time",
        "captured_at: not a point in time between 1970 and 9999"
      ),
      (
        #"{"user_id":"u","captured_at":1,"data":"canary"}"#, "bad_field",
        "entitlements: expected a list"
      ),
      (
        #"{"user_id":"u","captured_at":1,"data":[7]}"#, "bad_field",
        "entitlements: expected a list of objects"
      ),
      (#"{"user_id":"u","captured_at":1,"data":[{}]}"#, "missing_field", "entitlements.id"),
      (
        #"{"user_id":"u","captured_at":1,"data":[{"id":"e","active":"canary"}]}"#, "bad_field",
        "entitlements.active: expected true, false, 1 or 0"
      ),
      (
        #"{"user_id":"u","captured_at":1,"data":[{"id":"e","transactions":{}}]}"#, "bad_field",
        "entitlements.transactions: expected a list"
      ),
      (
        #"{"user_id":"u","captured_at":1,"data":[{"id":"e","transactions":[{}]}]}"#,
        "missing_field", "transactions.transaction_id"
      ),
    ])
  func refused(line: String, reason: String, detail: String) {
    let batch = readSnapshots(line)
    #expect(batch.snapshots.isEmpty && batch.lines == 1 && !batch.needsCapturedAt)
    #expect(batch.rejects.map(\.reason) == [reason])
    #expect(batch.rejects.map(\.detail) == [detail])
  }

  @Test("Broken lines are refused one by one, with their positions")
  func broken() {
    let good = #"{"user_id":"u","captured_at":1,"data":[]}"#
    let batch = readSnapshots("\u{FEFF}\(good)\r\n{\n\(good)\(good)\n")
    #expect(batch.lines == 4 && batch.snapshots.map(\.place.line) == [1, 3, 3])
    #expect(batch.rejects.map(\.reason) == ["not_json"])
    #expect(batch.rejects.map(\.place.line) == [2])
    var result = SnapshotBatch()
    let reader = SnapshotReader()
    reader.read(
      .oversizedValue(line: 3, byteOffset: 8), capturedAtDefault: nil, to: &result)
    #expect(result.lines == 1 && result.rejects.map(\.reason) == ["value_too_long"])
  }

  @Test("captured_at comes from the line, otherwise from its substitute")
  func capturedAt() {
    let bare = #"{"user_id":"u","data":[]}"#
    let named = #"{"user_id":"u","captured_at":1760000000,"data":[]}"#
    let standIn = Instant(seconds: 5)
    func at(_ line: String) -> Instant? {
      readSnapshots(line, capturedAtDefault: standIn).snapshots.first?.capturedAt
    }
    #expect(at(named) == Instant(seconds: 1_760_000_000))
    #expect(at(bare) == standIn)
    let lost = readSnapshots(bare)
    #expect(lost.needsCapturedAt && lost.snapshots.isEmpty && lost.lines == 1)
    #expect(!readSnapshots(named).needsCapturedAt)
  }

  @Test(
    "A file's name gives a date, and a time if it is unambiguous",
    arguments: [
      ("2026-11-20.jsonl.gz", "2026-11-20T00:00:00Z"),
      ("snapshots_20261120.jsonl", "2026-11-20T00:00:00Z"),
      ("users-2026-11-20T02-15.jsonl", "2026-11-20T02:15:00Z"),
      ("users-20261120T021530Z.jsonl", "2026-11-20T02:15:30Z"),
      ("users-20261120_021530.jsonl", "2026-11-20T02:15:30Z"),
      ("users-20261120021530.jsonl", "2026-11-20T02:15:30Z"),
      ("users-2026-11-20-0001.jsonl", "2026-11-20T00:00:00Z"),
      ("users-2026-11-20-part-3.jsonl", "2026-11-20T00:00:00Z"),
      ("users-2026-11-20T99-99.jsonl", "2026-11-20T00:00:00Z"),
      ("v12345678-2026-11-20.jsonl", "2026-11-20T00:00:00Z"),
      ("users-2026-13-20.jsonl", nil), ("users-120261120.jsonl", nil),
      ("users-31051129.jsonl", nil), ("users-00021031.jsonl", nil), ("users-20071231.jsonl", nil),
      ("users-20080101.jsonl", "2008-01-01T00:00:00Z"), ("users-2100-01-01.jsonl", nil),
      ("users-2026112099.jsonl", nil), ("users.jsonl", nil), ("", nil),
      ("a/users-2026-11-20.jsonl", "2026-11-20T00:00:00Z"), ("2026-11-20/users.jsonl", nil),
    ])
  func fileNames(name: String, expected: String?) {
    #expect(captureTime(fileName: name, in: .utc)?.text == expected)
  }

  @Test("A date in a name is a day in the reports' time zone; a time is UTC")
  func fileNameZone() {
    let tokyo = CivilCalendar(
      identifier: "Asia/Tokyo", offsets: [(Instant(milliseconds: .min), 32_400)])
    func text(_ name: String) -> String? { captureTime(fileName: name, in: tokyo)?.text }
    #expect(text("users-2026-11-20.jsonl") == "2026-11-19T15:00:00Z")
    #expect(text("users-20261120.jsonl") == "2026-11-19T15:00:00Z")
    #expect(text("users-20261120T021530Z.jsonl") == "2026-11-20T02:15:30Z")
    #expect(text("users-2026-02-30.jsonl") == nil)
  }
}
