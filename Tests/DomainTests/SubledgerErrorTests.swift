import Domain
import Glibc
import Testing

@Suite("System errors")
struct SubledgerErrorTests {
  @Test(
    "A system error has the kind of its cause, whatever the operation",
    arguments: [
      (EACCES, SubledgerError.Kind.permission), (EROFS, .permission), (ENOENT, .noInput),
      (ENOSPC, .inputOutput), (EIO, .inputOutput),
    ])
  func kinds(_ cause: Int32, _ kind: SubledgerError.Kind) {
    #expect(SubledgerError.system("open x", cause: cause).kind == kind)
  }

  @Test("A file that cannot be created is an error of its own kind, except for missing permission")
  func making() {
    let error = SubledgerError.system("make x", .cannotCreate, cause: ENOENT)
    #expect(error.kind == .cannotCreate)
    #expect(error.message == "cannot make x: No such file or directory")
    #expect(error.description.hasSuffix("\n  hint: check the path and that its disk is mounted"))
    #expect(SubledgerError.system("make x", .cannotCreate, cause: EPERM).kind == .permission)
  }
}
