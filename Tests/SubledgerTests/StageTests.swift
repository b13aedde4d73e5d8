import TestSupport
import Testing

@Suite("The job of a stage")
struct StageTests {
  @Test("A job of another version is refused with a message", arguments: ["{}", "x"])
  func job(text: String) throws {
    let program = try Program()
    try program.folder.write(text, to: "job.json")
    let result = try program.run(["stage", "fold", "--job", "job.json"])
    #expect(result.status == 78, "\(result)")
    #expect(result.errors.contains("job.json: another version wrote it"), "\(result)")
  }
}
