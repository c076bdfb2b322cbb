// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryIO
import TestSupport
import Testing

@Suite("Interface descriptions") struct InterfaceTests {
  @Test func theFileIsWhatIsBuiltIn() throws {
    let folder = ProjectFolder.path
    let path = "\(folder)/Sources/CBridgeInterface/accessorybridge.Bridge.varlink"
    #expect(try SmallFile.read(path, limit: 1 << 20) == Array(Bridge.text.utf8))
  }

  @Test func theFileDescribesTheInterface() throws {
    let interface = try InterfaceDescription(Bridge.text)
    #expect(interface.name == Bridge.name)
    #expect(
      interface.methods.keys.sorted() == [
        "Attach", "Battery", "ChangeLine", "Commands", "Detach", "Expect", "Forget", "GetFile", "History", "Info",
        "LineFacts", "List", "ListFolder", "MakeFolder", "ModemLines", "Name", "Open", "Perform", "Purge", "Remove",
        "Request", "SendFile",
        "Service", "SetBreak", "SetModemLines", "Share", "Status", "Subscribe", "SupplyFile", "Trace", "Values",
      ])
  }

  private let sample = """
    # A comment (with: everything, in -> it)
    interface org.example.Sample
    type State (on, off)
    type Thing (name: string, state: ?State, parts: []Thing, facts: [string]?int, size: (x: float, y: float))
    method Find(name: string) -> (thing: Thing, raw: object, is: bool)
    method Nothing() -> ()
    error Missing ()
    """

  @Test func valuesAreCheckedAgainstTheInterface() throws {
    let interface = try InterfaceDescription(sample)
    let output = try #require(interface.methods["Find"]).output
    func problem(_ thing: String, _ rest: String = #", "raw": {"x": [1]}, "is": true"#) throws -> String? {
      let json = try JSON(Array(#"{"thing": \#(thing)\#(rest)}"#.utf8))
      return interface.firstProblem(in: try #require(json.fields), output)
    }
    let whole = #"{"name":"a","state":"on","parts":[],"facts":{"a":1,"b":null},"size":{"x":1,"y":2.5}}"#
    #expect(try problem(whole) == nil)
    #expect(try problem(whole.replacing(#""state":"on","#, with: "")) == nil)
    #expect(try problem(whole.replacing("on", with: "up")) == "thing.state")
    #expect(try problem(whole.replacing(#""a","#, with: "1,")) == "thing.name")
    #expect(try problem(whole.replacing(#""b":null"#, with: #""b":1.5"#)) == "thing.facts.b")
    #expect(try problem(whole.replacing("2.5", with: "\"2\"")) == "thing.size.y")
    #expect(try problem(whole.replacing("[]", with: "[\(whole), {}]")) == "thing.parts.1.name")
    #expect(try problem(whole, #", "raw": 1, "is": true"#) == "raw")
    #expect(try problem(whole, #", "raw": {}"#) == "is")
    #expect(try problem(whole, #", "raw": {}, "is": true, "more": 1"#) == "more")
  }

  @Test(arguments: [
    ("", 1), ("type A (a: int)", 1), ("interface x", 1), ("interface a..b", 1), ("interface a.b\nmethod A() -> (", 2),
    ("interface a.b\ntype a (x: int)", 2), ("interface a.b\n\ntype A (x: Missing)", 3),
    ("interface a.b\ntype A (x: int, y)", 2), ("interface a.b\ntype A (x: int, x: int)", 2),
    ("interface a.b\ntype A ()\ntype A ()", 3), ("interface a.b\ntype A ()\nmethod A() -> ()", 3),
    ("interface a.b\nmethod A()", 2), ("interface a.b\nfrob A ()", 2),
    ("interface a.b\nerror A (x: unsigned)", 2), ("interface a.b\nerror A (x, y)", 2),
  ])
  func whatIsNoDescriptionSaysWhere(_ text: String, _ line: Int) {
    let error = #expect(throws: InterfaceError.self) { try InterfaceDescription(text) }
    #expect(error?.line == line, "\(error?.description ?? "")")
  }

  @Test func deepTypesAreRefused() {
    let text = "interface a.b\ntype A (x: " + String(repeating: "?", count: 100_000) + "int)"
    #expect(throws: InterfaceError.self) { try InterfaceDescription(text) }
  }
}
