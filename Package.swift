// swift-tools-version: 6.2
import Foundation
import PackageDescription

// The floor plan: targets stand in the order of their dependence, mostly that in which data walks
// through them. Each one may use only those above it; the compiler refuses any other import.

// ISA-L inflates in a third of zlib's time. It is used where WITH_ISAL is 1, and where that is
// not set and the package is installed; the Makefile sets it, for SwiftPM may remember an answer.
let hasISAL =
  Context.environment["WITH_ISAL"].map { $0 == "1" }
  ?? FileManager.default.fileExists(atPath: "/usr/include/isa-l/igzip_lib.h")

let package = Package(
  name: "subledger",
  products: [.executable(name: "subledger", targets: ["subledger"])],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
  ],
  targets: [
    .systemLibrary(
      name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
    .systemLibrary(
      name: "CCrypto", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
    .systemLibrary(name: "CRename"),
    .systemLibrary(name: "CMalloc"),

    // the nouns every room speaks
    .target(name: "Vocabulary"),
    .target(name: "Files", dependencies: ["Vocabulary"]),
    .target(name: "Digest", dependencies: ["CCrypto", "Files"]),

    // files → lines → fields → events and entitlements
    .target(name: "Decode", dependencies: ["Vocabulary"]),
    .target(name: "Archive", dependencies: ["CZlib", "Decode", "Digest", "Files", "Vocabulary"]),
    .target(name: "Normalise", dependencies: ["Decode", "Digest", "Vocabulary"]),

    // events → SQLite, each once
    .target(
      name: "Ledger",
      dependencies: [
        "CMalloc", "CZlib", "Digest", "Files", "Vocabulary",
        .product(name: "GRDB", package: "GRDB.swift"),
      ],
      resources: [.embedInCode("Schema")]),

    // events of one lineage → facts; facts and snapshots → breaks
    .target(name: "Timeline", dependencies: ["Vocabulary"]),
    .target(name: "Reconcile", dependencies: ["Timeline", "Vocabulary"]),

    // facts → CSV → the place where people read it
    .target(
      name: "Report", dependencies: ["Digest", "Files", "Ledger", "Vocabulary"],
      resources: [.embedInCode("Queries")]),
    .target(name: "Publish", dependencies: ["CRename", "Digest", "Files", "Vocabulary"]),

    // a synthetic world, for tests and for trying the program
    .target(name: "Simulate", dependencies: ["CZlib", "Vocabulary"]),

    // the whole night on one page, and its command line
    .target(
      name: "Nightly",
      dependencies: [
        "Archive", "Decode", "Digest", "Files", "Ledger", "Normalise", "Publish", "Reconcile",
        "Report", "Timeline", "Vocabulary", "Yams",
        .product(name: "Logging", package: "swift-log"),
      ]),
    .executableTarget(
      name: "subledger",
      dependencies: [
        "Nightly", "Simulate",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "Logging", package: "swift-log"),
      ]),

    // one folder of tests per room, and the tests of the whole
    .target(name: "TestSupport", path: "Tests/TestSupport"),
    .testTarget(name: "VocabularyTests", dependencies: ["TestSupport", "Vocabulary"]),
    .testTarget(name: "FilesTests", dependencies: ["Files", "TestSupport"]),
    .testTarget(name: "DigestTests", dependencies: ["Digest", "TestSupport"]),
    .testTarget(name: "ArchiveTests", dependencies: ["Archive", "CZlib", "Files", "TestSupport"]),
    .testTarget(name: "DecodeTests", dependencies: ["Decode", "TestSupport"]),
    .testTarget(
      name: "NormaliseTests", dependencies: ["Normalise", "TestSupport", "Vocabulary"],
      exclude: ["Lines"]),
    .testTarget(
      name: "LedgerTests",
      dependencies: ["Ledger", "TestSupport", .product(name: "GRDB", package: "GRDB.swift")]),
    .testTarget(name: "TimelineTests", dependencies: ["TestSupport", "Timeline"]),
    .testTarget(name: "ReconcileTests", dependencies: ["Reconcile", "TestSupport"]),
    .testTarget(name: "ReportTests", dependencies: ["Ledger", "Report", "TestSupport"]),
    .testTarget(name: "PublishTests", dependencies: ["Publish", "TestSupport"]),
    .testTarget(name: "SimulateTests", dependencies: ["Simulate", "TestSupport"]),
    .testTarget(
      name: "NightlyTests",
      dependencies: [
        "Ledger", "Nightly", "Reconcile", "Report", "TestSupport", "Timeline", "Vocabulary",
        .product(name: "Logging", package: "swift-log"),
      ]),
    .testTarget(
      name: "SubledgerTests", dependencies: ["Ledger", "TestSupport", "Vocabulary", "subledger"],
      exclude: ["Story", "Vendor"]),
    .testTarget(name: "TidyTests", dependencies: ["TestSupport"]),
  ]
)

// What `make fuzz` builds; nobody else waits for it. Settings are read in a room that needs all
// others, so that they can be left out.
if let fuzz = Context.environment["SUBLEDGER_FUZZ"] {
  let readers: [Target.Dependency] = [
    "Archive", "CZlib", "Decode", "Normalise", "TestSupport", "Vocabulary",
  ]
  let isWhole = fuzz == "all"
  package.targets.append(
    .executableTarget(
      name: "Fuzz",
      dependencies: readers + (isWhole ? ["Ledger", "Nightly"] : []),
      path: "Fuzz/Targets",
      exclude: isWhole ? [] : ["Settings"]))
}

for target in package.targets where target.type != .system {
  target.swiftSettings = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: .error),
  ]
  if target.name == "Fuzz", Context.environment["SUBLEDGER_FUZZ"] == "all" {
    target.swiftSettings?.append(.define("SETTINGS"))
  }
}

if hasISAL {
  package.targets.append(
    .systemLibrary(name: "CIsal", pkgConfig: "libisal", providers: [.apt(["libisal-dev"])]))
  for target in package.targets where ["Archive", "ArchiveTests"].contains(target.name) {
    if target.name == "Archive" { target.dependencies.append("CIsal") }
    target.swiftSettings?.append(.define("ISAL"))
  }
}
