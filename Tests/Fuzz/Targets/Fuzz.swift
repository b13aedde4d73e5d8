// The entry point for libFuzzer. One program contains all targets, so that it is linked once; the
// variable FUZZ_TARGET selects one.

import Foundation

/// The fuzz targets.
enum Target: String, CaseIterable {
  case gzip, lines, json, decimal, instant
  case envelope, qonversion, flobuk, iaptic, purple, snapshot
  #if SETTINGS
    case calendar, prices, configuration, decisions
  #endif

  /// Runs the target on `bytes`, and stops the process if a claim fails.
  func feed(_ bytes: UnsafeRawBufferPointer) {
    switch self {
    case .gzip: feedGzip(bytes)
    case .lines: feedLines(bytes)
    case .json: feedJSON(bytes)
    case .decimal: feedDecimal(bytes)
    case .instant: feedInstant(bytes)
    case .envelope: feedEnvelope(bytes)
    case .qonversion, .flobuk, .iaptic, .purple: feedBodies(bytes)
    case .snapshot: feedSnapshot(bytes)
    #if SETTINGS
      case .calendar: feedCalendar(bytes)
      case .prices: feedPrices(bytes)
      case .configuration: feedConfiguration(bytes)
      case .decisions: feedDecisions(bytes)
    #endif
    }
  }

  /// The target that the environment names.
  static let chosen: Target = {
    let name = ProcessInfo.processInfo.environment["FUZZ_TARGET"] ?? ""
    if let target = Target(rawValue: name) { return target }
    let known = allCases.map(\.rawValue).joined(separator: " ")
    report("FUZZ_TARGET must be one of: \(known)")
    exit(64)
  }()
}

/// Called by libFuzzer for every input; 0 allows the input into the corpus.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  Target.chosen.feed(UnsafeRawBufferPointer(start: start, count: count))
  return 0
}
