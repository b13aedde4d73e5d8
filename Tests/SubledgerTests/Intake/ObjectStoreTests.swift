import Foundation
import TestSupport
import Testing

@Suite("Archives in an object store are listed and read by commands")
struct ObjectStoreTests {
  private let program: Program

  init() throws {
    program = try Program()
    // A store in a folder; `calls` lists its requests.
    try program.folder.write(
      """
      cd store && for path in $(find "$1" -type f | sort); do
        printf '%s\\t%s\\t%s\\n' "${path#"$1"/}" "$(wc -c <"$path")" "$(md5sum <"$path")"; done
      """, to: "list.sh")
    try program.folder.write(
      "echo \"$1\" >>calls\ncase $1 in *broken*) test -e whole || { head -c 900 \"store/$1\"; "
        + "echo 'lost ?sig=s3cret AKIAIOSFODNN7EXAMPLE' >&2; exit 3; };; esac\ncat \"store/$1\"\n",
      to: "read.sh")
    try configure()
  }

  private func configure(
    list: String = "sh list.sh {bucket}/{key}", read: String = "sh read.sh {bucket}/{key}"
  ) throws {
    try program.folder.write(
      "readers: {\"test://\": {list: '\(list)', read: '\(read)'}}\n", to: "subledger.yaml")
  }

  private func run(_ more: String...) throws -> ProgramResult {
    try program.run(["run", "--archives", "test://b/in", "--as-of", "2026-03-01"] + more)
  }

  private func calls() throws -> [String] {
    let path = program.folder.path("calls")
    defer { try? FileManager.default.removeItem(atPath: path) }
    let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
    return text.split(separator: "\n").map(String.init)
  }

  @Test("The set equals that of the same files in a folder, and the next run reads nothing")
  func same() throws {
    for number in 0..<3 {
      try program.folder.write(
        bodies(60, from: number * 50 + 1), to: "store/b/in/d/\(number).jsonl")
      let path = try program.folder.write(bodies(60, from: number * 50 + 1_001), to: "plain")
      try program.folder.write(Array(gzip("-nc", path)), to: "store/b/in/\(number).gz")
    }
    #expect(try run().status == 0)
    try program.run([
      "run", "--archives", "store/b/in", "--as-of", "2026-03-01", "--ledger", "l", "--out", "local",
    ]).ended(0)
    #expect(try program.published() == program.published(in: "local"))
    #expect(try calls().count == 6)
    #expect(try run().status == 0)
    #expect(try calls().isEmpty)
    try program.folder.write(bodies(10, from: 501), to: "store/b/in/0.gz")
    #expect(try run().status == 0)
    #expect(try calls() == ["b/in/0.gz"])
    try program.folder.write(bodies(10, from: 501), to: "store/b/in/copy")
    #expect(try run().status == 0)
    #expect(
      try program.rows("inputs.csv").filter { $0["archive"] == "copy" }
        .map { [$0["status"], $0["lines"]] } == [["repeated", "0"]])
    #expect(try program.run(["verify", "--out", "reports"]).output.contains("differs") == false)
  }

  @Test(
    "An interrupted read is repeated, then left to the next run; nothing counts twice")
  func broken() throws {
    try program.folder.write(bodies(20), to: "store/b/in/a.jsonl")
    try program.folder.write(bodies(30, from: 11), to: "store/b/in/broken.jsonl")
    let first = try run().ended(1)
    #expect(first.errors.contains("cannot read test://b/in/broken.jsonl"), "\(first)")
    #expect(first.errors.contains("exit code 3: lost ?… …"), "\(first)")
    #expect(!first.errors.contains("s3cret") && !first.errors.contains("AKIA"))
    #expect(try program.rows("inputs.csv").map { $0["accepted"] } == ["20"])
    #expect(try calls().count { $0 == "b/in/broken.jsonl" } == 3)
    try program.folder.write("", to: "whole")
    #expect(try run().status == 0)
    #expect(try program.rows("inputs.csv").map { $0["accepted"] } == ["20", "20"])
  }

  @Test("A second attempt that succeeds delivers everything once")
  func secondTry() throws {
    try program.folder.write(bodies(30), to: "store/b/in/a.jsonl")
    try program.folder.write(
      "echo x >>tries; if [ \"$(wc -l <tries)\" -le $FAILS ]; then\n"
        + "head -c 9000 \"store/$1\"; exit 1; fi; cat \"store/$1\"\n", to: "flaky.sh")
    for fails in 1...2 {
      try configure(read: "env FAILS=\(fails) sh flaky.sh {bucket}/{key}")
      try? FileManager.default.removeItem(atPath: program.folder.path("tries"))
      try run("--ledger", "\(fails).sqlite", "--adopt").ended(0)
      let row = try #require(try program.rows("inputs.csv").first)
      #expect(row["accepted"] == "30" && row["status"] == "complete" && row["duplicates"] == "0")
    }
  }

  @Test("Names are single arguments of the command, whatever they contain")
  func names() throws {
    let name = "a b;touch x $(touch y) {path} '\"|&>z.jsonl"
    try program.folder.write(bodies(3), to: "store/b/in/\(name)")
    try program.folder.write(
      "printf '%s\\t%s\\t1\\n' \"$(ls store/b/in)\" \"$(cat store/b/in/* | wc -c)\"", to: "one.sh")
    try configure(list: "sh one.sh {path}", read: "cat store/{bucket}/{key}")
    try run().ended(0)
    #expect(try program.rows("inputs.csv").first?["accepted"] == "3")
    for made in ["x", "y", "z.jsonl"] {
      #expect(!FileManager.default.fileExists(atPath: program.folder.path(made)))
    }
  }

  @Test("An object with more or fewer bytes than listed is another object and left out")
  func sizes() throws {
    try program.folder.write(bodies(3), to: "store/b/in/a.jsonl")
    for (size, what) in [("1", "more"), ("999999", "fewer")] {
      try program.folder.write("printf 'a.jsonl\\t\(size)\\t1\\n'", to: "list.sh")
      let result = try run()
      #expect(result.status == 74 && result.errors.contains("\(what) bytes arrived"), "\(result)")
    }
  }

  @Test("A list that fails, is empty or invalid ends the run with the reason")
  func lists() throws {
    let cases: [(String, Int32, String)] = [
      ("echo 'no such bucket' >&2; exit 2", 74, "exit code 2: no such bucket"),
      ("", 66, "nothing is there"), ("echo '{}'", 66, "nothing is there"),
      ("echo 'a b'", 74, "neither JSON nor tab-separated"),
      ("echo '[{'", 74, "neither JSON nor tab-separated"),
      ("kill -9 $$", 74, "signal 9"),
    ]
    for (script, status, part) in cases {
      try program.folder.write(script, to: "list.sh")
      let result = try run()
      #expect(result.status == status && result.errors.contains(part), "\(script) \(result)")
    }
    try configure(list: "no-such-program {path}")
    let missing = try run()
    #expect(missing.status == 78 && missing.errors.contains("no-such-program"), "\(missing)")
    for wrong in ["{list: 'l {path}'}", "{list: l, read: 'r {path}'}", "{lst: 'l {path}'}", "x"] {
      try program.folder.write("readers: {\"test://\": \(wrong)}\n", to: "subledger.yaml")
      #expect(try run().status == 78, "\(wrong)")
    }
  }

  @Test("A signal ends the run and its reading command")
  func stop() throws {
    try program.folder.write(bodies(3), to: "store/b/in/a.jsonl")
    try program.folder.write("echo $$ >pid; exec sleep 300", to: "read.sh")
    let process = try program.start(["run", "--archives", "test://b/in", "--as-of", "2026-03-01"])
    let path = program.folder.path("pid")
    var reader: Int32?
    while reader == nil, process.isRunning {
      usleep(10_000)
      reader = (try? String(contentsOfFile: path, encoding: .utf8)).flatMap {
        Int32($0.trimmingCharacters(in: .whitespacesAndNewlines))
      }
    }
    process.terminate()
    process.waitUntilExit()
    #expect(process.terminationStatus == 143)
    #expect(kill(try #require(reader), 0) != 0)
  }
}
