// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryFamilies
import AccessoryLink
import AccessoryProtocols
import Testing

@testable import AccessoryDescriptions
@testable import AccessoryDrivers

/// Descriptions of which several accessories may be on one line.
@Suite struct DescribedUnitTests {
  private static func description(_ name: String) throws -> ProtocolDescription {
    try #require(DescriptionLibrary.builtIn.described(name)).description
  }

  private static let head = """
    protocol: x
    version: 1
    framings: {f: {layout: [start: DD, address: u8, n: u8, length: {type: u8, of: data}, data]}}

    """

  @Test func requestsOfDalyNameTheirUnit() throws {
    let description = try Self.description("daly")
    let units = try #require(description.units)
    #expect(units.element == "address" && units.range == 1...16 && units.scan == 1...16 && units.defaultUnit == 1)
    let writer = RequestEncoder(try DescribedCodec(description))
    let basic = try #require(description.request(named: "basic"))
    let sums: [(unit: Int?, bytes: [UInt8])] = [
      (nil, [0xA5, 0x40, 0x90, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0x7D]),
      (2, [0xA5, 0x41, 0x90, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0x7E]),
      (16, [0xA5, 0x4F, 0x90, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0x8C]),
    ]
    for (unit, bytes) in sums {
      let request = try DescribedRequest(basic, unit: unit, of: description, by: writer)
      #expect(request.bytes == bytes)
      #expect(request.unit == unit ?? 1)
    }
  }

  /// Module 1 has the address 2, which stands among the data, too.
  @Test func requestsOfPylontechNameTheirUnit() throws {
    let description = try Self.description("pylontech")
    let writer = RequestEncoder(try DescribedCodec(description))
    func sent(_ name: String, _ unit: Int?) throws -> String {
      let request = try #require(description.request(named: name))
      let bytes = try DescribedRequest(request, unit: unit, of: description, by: writer).bytes
      return String(decoding: bytes, as: UTF8.self)
    }
    #expect(try sent("analog", nil) == "~20024642E00202FD33\r")
    #expect(try sent("analog", 2).hasPrefix("~20034642E00203"))
    #expect(try sent("all_analog", 2).hasPrefix("~20034642E002FF"))
    #expect(try sent("limits", 17).hasPrefix("~201246470000"))
  }

  @Test func unitsOutOfRangeAreMisconfigured() throws {
    let daly = try Self.description("daly")
    let writer = RequestEncoder(try DescribedCodec(daly))
    for unit in [0, 17, -1, .max] {
      let error = #expect(throws: AccessoryError.self) { try DescribedRequest(0, unit: unit, of: daly, by: writer) }
      #expect(error?.kind == .misconfigured)
      #expect(error?.message == "the units of the protocol daly are 1 to 16, not \(unit)")
    }
    let jbd = try Self.description("jbd")
    #expect(throws: AccessoryError.self) {
      try DescribedRequest(0, unit: 1, of: jbd, by: RequestEncoder(try DescribedCodec(jbd)))
    }
  }

  @Test func unitsOfADescriptionAreReadAndChecked() throws {
    let text =
      Self.head + """
        units: {element: address, from: 0, to: 15, default: 3, request_adds: 0x10, reply_adds: 0x20, scan: 1..4}
        messages: {m: {when: {n: 1}, fields: [{name: a, type: u8}]}}
        requests: {r: {send: f, with: {n: 1}, data: [AA, {unit_number: u16}], reply: m}}
        examples:
          - {request: r, sent: DD 13 01 03 AA 00 13, received: DD 23 01 01 07, expect: {a: 7}}
          - {request: r, unit_number: 0, sent: DD 10 01 03 AA 00 10, received: DD 20 01 01 08, expect: {a: 8}}
          - {request: r, received: DD 20 01 01 08, refused: true}
          - {request: r, received: DD 30 01 01 08, refused: true}
        """
    let described = try DescriptionReader.read(Array(text.utf8), file: "f")
    let units = try #require(described.description.units)
    #expect(units.range == 0...15 && units.scan == 1...4 && units.defaultUnit == 3)
    #expect(units.sentOffset == 16 && units.receivedOffset == 32)
    #expect(DescriptionCheck.problems(in: described, file: "f").map(\.message) == [])
  }

  @Test func anExampleOfAnotherUnitIsReported() throws {
    let text =
      Self.head + """
        units: {element: address, to: 15}
        messages: {m: {fields: [{name: a, type: u8}]}}
        requests: {r: {send: f, with: {n: 1}, reply: m}}
        examples: [{request: r, unit_number: 2, received: DD 03 01 01 07, expect: {a: 7}}]
        """
    let described = try DescriptionReader.read(Array(text.utf8), file: "f")
    #expect(
      DescriptionCheck.problems(in: described, file: "f").map(\.message) == ["it comes from unit 3, not from unit 2"])
  }

  private static let mistakes: [(String, String)] = [
    ("units: {to: 3}", "4:8: element is missing: the number in the frames that names the unit"),
    ("units: {element: address}", "4:8: to is missing: the highest unit"),
    ("units: {element: adress, to: 3}", "4:18: \"adress\" is not a number in frames of f: did you mean address?"),
    ("units: {element: data, to: 3}", "4:18: data is not a number with a name, so it can't be compared or set"),
    ("units: {element: address, from: 4, to: 3}", "4:40: to is less than from, which is 4"),
    ("units: {element: address, to: 300}", "4:31: there are at most 256 units, not 300"),
    ("units: {element: address, to: 256}", "4:31: address can hold 0 to 255, and the units are sent as 1 to 256"),
    (
      "units: {element: address, to: 9, request_adds: 250}",
      "4:48: address can hold 0 to 255, and the units are sent as 251 to 259"
    ),
    (
      "units: {element: address, to: 9, scan: 1..10}",
      "4:40: scan must be units from 1 to 9, as FIRST..LAST, not \"1..10\""
    ),
    ("units: {element: address, to: 9, default: 10}", "4:43: default must be a whole number from 1 to 9, not \"10\""),
    (
      "units: {element: address, to: 9}\nmessages: {m: {when: {address: 1}}}",
      "5:23: when: address is the unit's number, which is set and compared automatically: leave it out"
    ),
    (
      "units: {element: address, to: 9}\nrequests: {r: {send: f, with: {address: 1, n: 1}}}",
      "5:32: with: address is the unit's number, which is set and compared automatically: leave it out"
    ),
    (
      "units: {element: address, to: 9}\nrequests: {r: {send: AA BB}}",
      "5:22: the number of the unit is missing in these bytes: send: [..., {unit_number: u8}]"
    ),
    (
      "requests: {r: {send: f, with: {address: 1, n: 1}, data: [{unit_number: u8}]}}",
      "4:72: unit_number needs units:, which is missing"
    ),
    (
      "units: {element: n, to: 9, request_adds: -1}\n"
        + "requests: {r: {send: f, with: {address: 1}, data: [{unit_number: bcd8}]}}",
      ""
    ),
    (
      "units: {element: n, to: 200}\nrequests: {r: {send: f, with: {address: 1}, data: [{unit_number: i8}]}}",
      "5:66: units are sent as 1 to 200, which don't fit in this type of number"
    ),
  ]

  @Test(arguments: mistakes) func mistakesInUnitsAreReported(_ text: String, _ mistake: String) {
    #expect(DescriptionSample.mistakes(Self.head + text + "\n") == (mistake.isEmpty ? [] : [mistake]))
  }
}
