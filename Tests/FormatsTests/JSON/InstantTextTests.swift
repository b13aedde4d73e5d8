import Formats
import Testing
import Domain

private func instant(_ text: String) -> Int64? {
  Array(text.utf8).withUnsafeBytes { InstantText.rfc3339($0)?.milliseconds }
}

private func epoch(_ text: String, isMilliseconds: Bool = false) -> Int64? {
  Array(text.utf8).withUnsafeBytes {
    InstantText.epoch($0, isMilliseconds: isMilliseconds)?.milliseconds
  }
}

@Test(
  "Dates and times are read in all notations",
  arguments: [
    ("1970-01-01T00:00:00Z", 0), ("2025-07-08T18:40:00Z", 1_752_000_000_000),
    ("2025-07-08T18:40:00.000Z", 1_752_000_000_000), ("2025-07-08t18:40:00z", 1_752_000_000_000),
    ("2025-07-08 18:40:00", 1_752_000_000_000), ("2025-07-08T20:40:00+02:00", 1_752_000_000_000),
    ("2025-07-08T13:10:00-05:30", 1_752_000_000_000),
    ("2025-07-08 18:40:00+00", 1_752_000_000_000),
    ("2025-07-08T20:40:00+0200", 1_752_000_000_000),
    ("2025-07-08 18:40:00.5 UTC", 1_752_000_000_500),
    ("2025-07-08T18:40:00-00:00", 1_752_000_000_000), ("2025-07-08", 1_751_932_800_000),
    ("2025-07-08T18:40:00.1Z", 1_752_000_000_100), ("2025-07-08T18:40:00.12Z", 1_752_000_000_120),
    ("2025-07-08T18:40:00.123999999999Z", 1_752_000_000_123),
    ("1969-12-31T23:59:59.999Z", -1), ("2024-02-29T00:00:00Z", 1_709_164_800_000),
    ("2000-02-29T12:00:00Z", 951_825_600_000), ("0001-01-01T00:00:00Z", -62_135_596_800_000),
    ("9999-12-31T23:59:59.999Z", 253_402_300_799_999),
    ("1985-04-12T23:20:50.52Z", 482_196_050_520), ("1996-12-19T16:39:57-08:00", 851_042_397_000),
    ("1990-12-31T23:59:60Z", 662_687_999_999), ("1990-12-31T15:59:60-08:00", 662_687_999_999),
    ("1937-01-01T12:00:27.87+00:20", -1_041_337_172_130),
  ])
func readsInstant(text: String, milliseconds: Int64) {
  #expect(instant(text) == milliseconds)
}

@Test(
  "Text that is not an RFC 3339 date and time is refused",
  arguments: [
    "", "2025", "2025-07", "2025-7-8", "2025-00-01", "2025-13-01", "2025-01-00", "2025-01-32",
    "2025-04-31", "2025-02-29", "1900-02-29", "0000-01-01", "2025-07-08T", "2025-07-08Z",
    "2025-07-08T18:40Z", "2025-07-08T24:00:00Z", "2025-07-08T18:60:00Z", "2025-07-08T18:40:61Z",
    "2025-07-08T18:40:60Z", "2025-07-08T18:40:00.Z", "2025-07-08T18:40:00+020",
    "2025-07-08T18:40:00+2", "2025-07-08T18:40:00+24:00", "2025-07-08T18:40:00+02:60",
    "2025-07-08T18:40:00ZZ", "2025-07-08T18:40:00 Z", "2025-07-08T18:40:00 UT",
    "2025-07-08_18:40:00Z", "20250708T184000Z",
    "2025/07/08", "+2025-07-08", "-025-07-08", "12025-07-08", " 2025-07-08", "1752000000",
    "0001-01-01T00:00:00+00:01", "9999-12-31T23:59:59-00:01", "2025-07-08T18:40:0aZ",
  ])
func refusesInstant(text: String) {
  #expect(instant(text) == nil)
}

@Test(
  "A text without an offset is not an instant where an offset is required",
  arguments: [
    ("2025-07-08T18:40:00Z", true), ("2025-07-08T18:40:00.5+02:00", true),
    ("2025-07-08T18:40:00", false), ("2025-07-08 18:40:00.5", false), ("2025-07-08", false),
  ])
func needsOffset(text: String, isInstant: Bool) {
  let read = Array(text.utf8).withUnsafeBytes { InstantText.rfc3339($0, needsOffset: true) }
  #expect(read?.milliseconds == (isInstant ? instant(text) : nil))
}

@Test("Every day of the calendar is read as its number")
func readsEveryDay() {
  for number in stride(from: Int32(-719_162), through: 2_932_896, by: 997) {
    let day = Day(number: number)
    #expect(instant(day.text) == Int64(number) * 86_400_000, "\(day.text)")
  }
}

@Test("Seconds, milliseconds and numbers of either kind are distinguished")
func readsEpoch() {
  #expect(epoch("1760000000") == 1_760_000_000_000)
  #expect(epoch("1760000000000") == 1_760_000_000_000)
  #expect(epoch("1760000000000", isMilliseconds: true) == 1_760_000_000_000)
  #expect(epoch("1760000000", isMilliseconds: true) == 1_760_000_000)
  #expect(epoch("1.76e9") == 1_760_000_000_000)
  #expect(epoch("1760000000.123") == 1_760_000_000_123)
  #expect(epoch("1760000000.1239") == 1_760_000_000_123)
  #expect(epoch("1760000000123.9") == 1_760_000_000_123)
  #expect(epoch("100000000000") == 100_000_000_000_000)
  #expect(epoch("100000000000.5") == 100_000_000_000_500)
  #expect(epoch("253402300799") == 253_402_300_799_000)
  #expect(epoch("253402300799.5") == 253_402_300_799_500)
  #expect(epoch("253402300800") == 253_402_300_800)
  #expect(epoch("253402300800.5") == 253_402_300_800)
}

@Test("Times before 1970 are rounded down")
func readsNegativeEpoch() {
  #expect(epoch("0") == 0)
  #expect(epoch("-0") == 0)
  #expect(epoch("-1") == -1_000)
  #expect(epoch("-0.0001") == -1)
  #expect(epoch("-1.0005") == -1_001)
  #expect(epoch("-200000000000") == -200_000_000_000)
}

@Test("Numbers outside the years 1 to 9999 are not times")
func refusesEpoch() {
  #expect(epoch("253402300799") == 253_402_300_799_000)
  #expect(epoch("-62135596800") == -62_135_596_800_000)
  #expect(epoch("-62135596800.001") == nil)
  #expect(epoch("-62135596800.001", isMilliseconds: true) == -62_135_596_801)
  #expect(epoch("253402300800000") == nil)
  for text in ["1e999999999", "-1e300", "9223372036854775808", "999999999999999999", "", "x", "01"]
  {
    #expect(epoch(text) == nil)
    #expect(epoch(text, isMilliseconds: true) == nil)
  }
}
