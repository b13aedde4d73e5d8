// swift-tools-version: 6.2
import Foundation
import PackageDescription

// Targets are in the order of the data flow. Each may import only those above it; the compiler
// refuses any other import.

// Optional libraries: ISA-L inflates three times as fast as zlib; the others read zstd and bzip2,
// and write workbooks. Each is used if WITH_NAME is 1, or if that is not set and the package is
// installed. The Makefile sets it, because SwiftPM may cache an answer.
let optionalLibraries = [
  ("ISAL", "CIsal", "libisal-dev", "isa-l/igzip_lib.h", users: ["Formats", "FormatsTests"]),
  ("ZSTD", "CZstd", "libzstd-dev", "zstd.h", users: ["Formats", "FormatsTests"]),
  ("BZIP2", "CBzip2", "libbz2-dev", "bzlib.h", users: ["Formats", "FormatsTests"]),
  (
    "XLSX", "CXlsx", "libxlsxwriter-dev", "xlsxwriter.h",
    users: ["Reports", "ReportsTests", "SubledgerTests"]
  ),
]

let package = Package(
  name: "subledger",
  products: [.executable(name: "subledger", targets: ["subledger"])],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/hummingbird-project/swift-mustache", from: "2.1.1"),
    .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
  ],
  targets: [
    .systemLibrary(
      name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
    .systemLibrary(
      name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    .systemLibrary(
      name: "CCrypto", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
    .systemLibrary(name: "CRename"),
    .systemLibrary(name: "CMalloc"),
    .systemLibrary(name: "CPipe"),
    .systemLibrary(name: "CCurl"),

    // the vocabulary of the field
    .target(name: "Domain"),

    // files → lines → fields
    .target(name: "Formats", dependencies: ["CCrypto", "CPipe", "CZlib", "Domain"]),

    // fields → events and entitlements, one folder per provider
    .target(name: "Providers", dependencies: ["Domain", "Formats"]),

    // events → SQLite, each event once
    .target(
      name: "EventStore",
      dependencies: ["CMalloc", "CSQLite", "CZlib", "Domain", "Formats"],
      resources: [.embedInCode("Schema")]),

    // events of one subscription → facts; facts and snapshots → breaks
    .target(name: "Subscriptions", dependencies: ["Domain"]),
    .target(name: "Reconciliation", dependencies: ["Domain", "Subscriptions"]),

    // facts → CSV → the published folder
    .target(
      name: "Reports", dependencies: ["CRename", "Domain", "EventStore", "Formats"],
      resources: [.embedInCode("Queries")]),

    // the published set → one page for people
    .target(
      name: "Page",
      dependencies: [
        "Domain", "Formats", "Reports", .product(name: "Mustache", package: "swift-mustache"),
      ],
      resources: [.embedInCode("Templates")]),

    // requests → responses
    .target(name: "HTTP", dependencies: ["CCurl", "Domain"]),

    // synthetic data, for tests and trials
    .target(name: "Simulation", dependencies: ["Domain", "Formats"]),

    // the whole run, and its command line
    .target(
      name: "Pipeline",
      dependencies: [
        "Domain", "EventStore", "Formats", "HTTP", "Page", "Providers",
        "Reconciliation", "Reports", "Subscriptions", "Yams",
        .product(name: "Logging", package: "swift-log"),
      ]),
    .executableTarget(
      name: "subledger",
      dependencies: [
        "Pipeline", "Simulation",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "Logging", package: "swift-log"),
      ]),

    // one folder of tests per module, and tests of the whole program
    .target(name: "TestSupport", path: "Tests/TestSupport"),
    .testTarget(name: "DomainTests", dependencies: ["Domain", "TestSupport"]),
    .testTarget(name: "FormatsTests", dependencies: ["CZlib", "Formats", "TestSupport"]),
    .testTarget(
      name: "ProvidersTests", dependencies: ["Domain", "Formats", "Providers", "TestSupport"],
      exclude: ["Lines"]),
    .testTarget(name: "EventStoreTests", dependencies: ["CSQLite", "EventStore", "TestSupport"]),
    .testTarget(name: "SubscriptionsTests", dependencies: ["Subscriptions", "TestSupport"]),
    .testTarget(name: "ReconciliationTests", dependencies: ["Reconciliation", "TestSupport"]),
    .testTarget(name: "ReportsTests", dependencies: ["EventStore", "Reports", "TestSupport"]),
    .testTarget(name: "PageTests", dependencies: ["Domain", "Page", "Reports", "TestSupport"]),
    .testTarget(name: "HTTPTests", dependencies: ["HTTP", "TestSupport"]),
    .testTarget(name: "SimulationTests", dependencies: ["Simulation", "TestSupport"]),
    .testTarget(
      name: "PipelineTests",
      dependencies: [
        "Domain", "EventStore", "Pipeline", "Providers", "Reconciliation", "Reports",
        "Subscriptions", "TestSupport", "Yams",
        .product(name: "Logging", package: "swift-log"),
      ]),
    .testTarget(
      name: "SubledgerTests", dependencies: ["Domain", "EventStore", "TestSupport", "subledger"],
      exclude: ["Breaks/Story", "Providers/Vendor"]),
    .testTarget(name: "TidyTests", dependencies: ["TestSupport"]),
  ]
)

// What `make fuzz` builds. Reading settings needs all modules, so it can be left out.
if let fuzz = Context.environment["SUBLEDGER_FUZZ"] {
  let readers: [Target.Dependency] = [
    "CZlib", "Domain", "Formats", "Providers", "TestSupport",
  ]
  let isWhole = fuzz == "all"
  package.targets.append(
    .executableTarget(
      name: "Fuzz",
      dependencies: readers + (isWhole ? ["EventStore", "Pipeline", "Reports"] : []),
      path: "Tests/Fuzz/Targets",
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

for (name, module, debian, header, users) in optionalLibraries
where Context.environment["WITH_\(name)"].map({ $0 == "1" })
  ?? FileManager.default.fileExists(atPath: "/usr/include/\(header)")
{
  package.targets.append(.systemLibrary(name: module, providers: [.apt([debian])]))
  for target in package.targets where users.contains(target.name) {
    target.dependencies.append(.target(name: module))
    target.swiftSettings?.append(.define(name))
  }
}
