import Foundation
import EventStore
import TestSupport
import Testing

@Suite("Files of the job itself are not read as input")
struct OwnPlacesTests {
  let program: Program

  init() throws { program = try Program(reading: bodies(3)) }

  private let run = ["run", "--archives", "in", "--as-of", "2026-03-01"]

  @Test("A ledger and reports below the archives are not read as input under any name")
  func ownFiles() throws {
    let folder = program.folder
    let here = ["run", "--archives", ".", "--as-of", "2026-03-01"]
    func run(_ count: Int, _ options: [String]) throws {
      try folder.write(bodies(count), to: "in/a.jsonl")
      let result = try program.run(here + options)
      #expect(result.status == 0 && result.errors.isEmpty, "\(options): \(result)")
    }
    for count in [3, 4] { try run(count, []) }
    for name in ["reports", "subledger.sqlite", "subledger.sqlite.lock"] {
      try FileManager.default.removeItem(atPath: folder.path(name))
    }
    for name in ["kept", "books"] {
      try FileManager.default.createDirectory(
        atPath: folder.path(name), withIntermediateDirectories: true)
    }
    for (link, target) in [("linked", "kept"), ("ledger", "books/real.sqlite")] {
      try FileManager.default.createSymbolicLink(
        atPath: folder.path(link), withDestinationPath: target)
    }
    let byLinks = ["--ledger", "ledger", "--out", folder.path("in/../linked/out/")]
    for count in [5, 6] { try run(count, byLinks) }
  }

  @Test("If archives and reports share a folder, the job's own files are left out")
  func sharedFolder() throws {
    let folder = program.folder
    let header = "store,product_id,country,currency,valid_from,amount,amount_usd,proceeds_rate,"
    try folder.write("\(header)period\n", to: "all/prices.csv")
    try folder.write("[]\n", to: "all/decisions.yaml")
    try folder.write("c4n4ry-password", to: "all/key")
    try folder.write(
      "prices: all/prices.csv\ndecisions: all/decisions.yaml\n"
        + "secrets: {iaptic: {file: all/key}}\nverbose: true\n"
        + "fetch: {authorities: all/own.pem}\n", to: "all/c.yaml")
    try folder.write("-----BEGIN CERTIFICATE-----\n", to: "all/own.pem")
    #expect(chmod(folder.path("all/key"), 0o600) == 0)
    let person = #"{"provider":"purple","user_id":"u","entitlements":[],"captured_at":1767225600}"#
    try folder.write(person, to: "all/people/1.jsonl")
    let here = [
      "run", "--archives", "all", "--out", "all", "--ledger", "all/l", "--config", "all/c.yaml",
      "--snapshots", "all/people", "--as-of", "2026-03-01",
    ]
    for count in [3, 4, 5] {
      try folder.write(bodies(count), to: "all/\(count).jsonl")
      let result = try program.run(here).ended(0)
      for name in ["c.yaml", "prices.csv", "decisions.yaml", "key", "l", "own.pem", "people"] {
        #expect(result.errors.contains("left out all/\(name): the job's own"), "\(result)")
      }
      // An interrupted publication has no checksums yet.
      if count == 3 { try FileManager.default.removeItem(atPath: folder.path("all/SHA256SUMS")) }
    }
    let read = try program.rows("inputs.csv", in: "all").map { $0["archive"] }
    // Each file begins with the content of the previous one.
    #expect(read == ["3.jsonl; 4.jsonl; 5.jsonl"])
    let ledger = try Ledger.open(path: folder.path("all/l"), mode: .readOnly)
    try ledger.rows(sql: "select count(*) from snapshot") { #expect($0.number(0) == 1) }
  }

  @Test("A broken link is reported; foreign files below --out are read on request")
  func brokenLink() throws {
    try FileManager.default.createSymbolicLink(
      atPath: program.folder.path("in/b.jsonl"), withDestinationPath: "gone.jsonl")
    let result = try program.run(run).ended(0)
    #expect(result.errors.contains("left out in/b.jsonl: a broken link"))
    try program.folder.write(bodies(2, from: 10), to: "reports/mine/c.jsonl")
    try program.run(["run", "--archives", "reports/mine", "--as-of", "2026-03-01"])
    #expect(try program.rows("inputs.csv").map { $0["archive"] } == ["a.jsonl", "c.jsonl"])
  }
}
