import Testing
import Domain

@Suite("An id is replaced where it stands, and nowhere else")
struct RenamingTests {
  @Test(
    "An id of its own is replaced inside words, one of digits or of few letters as a word only",
    arguments: [
      ("QON_a1b2c3", "QON_a1b2c3|pro", "NAME|pro"), ("QON_a1b2c3", "xQON_a1b2c3y", "xNAMEy"),
      ("u-1", "u-1|pro", "NAME|pro"), ("u-1", "u-11|pro", "u-11|pro"), ("u-1", "zu-1", "zu-1"),
      ("12345678", "200012345678", "200012345678"), ("12345678", "user:12345678", "user:NAME"),
      ("u-1", "u-1,u-1 u-1", "NAME,NAME NAME"), ("aa", "aaa aa", "aaa NAME"),
      ("QON_a1b2c3", "QON_a1b2c", "QON_a1b2c"), ("ü-1", "ü-1|ü-12", "NAME|ü-12"),
    ])
  func own(id: String, text: String, told: String) {
    let renaming = Renaming(id: id, name: "NAME")
    #expect(renaming.applied(toOwn: text) == told)
  }

  @Test(
    "In words of others only a whole word is the id, for a longer one is somebody else's",
    arguments: [
      ("QON_user_1", "QON_user_10 asked", "QON_user_10 asked"),
      ("QON_user_1", "QON_user_1 asked, QON_user_1.", "NAME asked, NAME."),
      ("QON_user_1", "for aQON_user_1", "for aQON_user_1"), ("u", "", ""),
    ])
  func others(id: String, text: String, told: String) {
    let renaming = Renaming(id: id, name: "NAME")
    #expect(renaming.applied(toOther: text) == told)
  }
}
