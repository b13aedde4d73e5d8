import Foundation
import Domain

extension CivilCalendar {
  /// The days of an IANA time zone, as the system's tables know it from 1970 to 2100.
  ///
  /// Nil when the zone is unknown.
  init?(named identifier: String) {
    if identifier == "UTC" {
      self = .utc
      return
    }
    // The list of known names leaves out links such as Asia/Kolkata; a name without a slash that is
    // not in it is an offset, not a place.
    guard TimeZone.knownTimeZoneIdentifiers.contains(identifier) || identifier.contains("/"),
      let zone = TimeZone(identifier: identifier)
    else { return nil }
    let end = Date(timeIntervalSince1970: 4_102_444_800)
    var date = Date(timeIntervalSince1970: 0)
    var offsets = [
      Offset(
        from: Instant(milliseconds: .min), seconds: Int64(zone.secondsFromGMT(for: date)))
    ]
    while let change = zone.nextDaylightSavingTimeTransition(after: date), change < end {
      offsets.append(
        Offset(
          from: Instant(milliseconds: Int64((change.timeIntervalSince1970 * 1000).rounded())),
          seconds: Int64(zone.secondsFromGMT(for: change))))
      date = change
    }
    self.init(identifier: identifier, offsets: offsets)
  }
}
