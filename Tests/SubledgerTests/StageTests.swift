import TestSupport
import Testing

@Suite("What a stage is given")
struct StageTests {
  @Test("A job that no driver of this version wrote is refused in words", arguments: ["{}", "x"])
  func job(text: String) throws {
    let program = try Program()
    try program.folder.write(text, to: "job.json")
    let result = try program.run(["stage", "fold", "--job", "job.json"])
    #expect(result.status == 78, "\(result)")
    #expect(result.errors.contains("job.json: another version wrote it"), "\(result)")
  }
}
