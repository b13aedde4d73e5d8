import Testing
import Domain

@Suite("An id is replaced where it stands, and nowhere else")
struct RedactionTests {
  @Test(
    "Only a whole word is the id, for a longer one is somebody else's",
    arguments: [
      ("QON_user_1", "QON_user_10 asked", "QON_user_10 asked"),
      ("QON_user_1", "QON_user_1 asked, QON_user_1.", "NAME asked, NAME."),
      ("QON_user_1", "for aQON_user_1", "for aQON_user_1"), ("u", "", ""),
      ("u-1", "u-1,u-1 u-1", "NAME,NAME NAME"), ("aa", "aaa aa", "aaa NAME"),
      ("ü-1", "ü-1|ü-12", "NAME|ü-12"), ("12345678", "user:12345678", "user:NAME"),
    ])
  func words(id: String, text: String, redacted: String) {
    #expect(Redaction(id: id, name: "NAME").applied(to: text) == redacted)
  }
}
