import Foundation
import TestSupport
import Testing

@Suite("Pipes, devices and foreign files are refused at once, and keep their permissions")
struct NoRegularFileTests {
  let program: Program

  init() throws {
    program = try Program(reading: bodies(3))
    try program.folder.write("theirs", to: "victim")
    #expect(chmod(program.folder.path("victim"), 0o666) == 0)
  }

  private let run = ["run", "--archives", "in", "--as-of", "2026-03-01", "--ledger", "l"]

  private func mode(_ path: String) throws -> Int? {
    try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
  }

  /// Runs the program, and ends it if it hangs.
  private func status(_ arguments: [String]) throws -> Int32 {
    try execute(
      ["timeout", "-s", "KILL", "60", Program.binary.path] + arguments, in: program.folder.path
    ).status
  }

  @Test("A device or a pipe is not a ledger, and no file is created next to it")
  func noLedger() throws {
    let pipe = program.folder.path("pipe")
    #expect(mkfifo(pipe, 0o666) == 0 && chmod(pipe, 0o666) == 0)
    for command in [Array(run.dropLast(2)), ["status"], ["report"]] {
      for path in ["/dev/null", pipe] {
        let before = try mode(path)
        #expect(try status(command + ["--ledger", path]) == 65)
        #expect(try mode(path) == before)
        #expect(!FileManager.default.fileExists(atPath: "\(path).lock"))
      }
    }
  }

  @Test("A foreign file with the name of a ledger's companion file is left alone")
  func besides() throws {
    #expect(try status(run) == 0)
    for name in ["l.lock", "l-wal", "l-shm", "l-journal"] {
      let path = program.folder.path(name)
      for plant in [
        { mkfifo(path, 0o600) }, { symlink("victim", path) },
        { link(program.folder.path("victim"), path) },
      ] {
        unlink(path)
        #expect(plant() == 0)
        for command in [run, ["status", "--ledger", "l"]] {
          #expect(try status(command) == 65, "\(name)")
        }
        #expect(try mode(program.folder.path("victim")) == 0o666)
        unlink(path)
      }
    }
    #expect(try program.text(of: "victim") == "theirs")
    #expect(try status(run) == 0)
  }

  @Test(
    "A configuration, price book or decisions file must be a regular file or a link to one",
    arguments: ["config", "prices", "decisions"])
  func settings(option: String) throws {
    let text =
      option == "prices"
      ? "store,product_id,country,currency,valid_from,amount,amount_usd,proceeds_rate,period\n"
      : option == "config" ? "verbose: true\n" : "[]\n"
    try program.folder.write(text, to: "file")
    #expect(symlink("file", program.folder.path("linked")) == 0)
    #expect(mkfifo(program.folder.path("pipe"), 0o600) == 0)
    #expect(try status(run + ["--\(option)", "linked"]) == 0)
    for path in ["pipe", "/dev/zero"] {
      #expect(try status(run + ["--\(option)", path]) == 78, "\(path)")
    }
  }
}
