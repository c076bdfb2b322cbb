// SPDX-License-Identifier: Apache-2.0

import AccessoryDescriptions
import AccessoryProtocols

private typealias Element = ProtocolDescription.Element
private typealias Number = ProtocolDescription.NumberFormat
private typealias Check = ProtocolDescription.Check
private typealias Field = ProtocolDescription.Field
private typealias Framing = ProtocolDescription.Framing

/// Descriptions as the reader of files would make them, of protocols that differ in what they need.
public enum Samples {
  private static let u8 = Number(byteCount: 1)
  private static let u16 = Number(byteCount: 2)
  private static let i16 = Number(byteCount: 2, encoding: .signed)

  private static func formula(_ text: String) -> ProtocolDescription.Formula {
    (try? ProtocolDescription.Formula(text)) ?? .raw
  }

  private static func field(
    _ name: String, _ format: Number, over denominator: Int = 1, offset: Int = 0, unit: String? = nil,
    unknown: [Int] = [], hidden: Bool = false
  ) -> Field {
    var field = Field(name, .number(format))
    (field.formula, field.unit) = (.scaled(over: denominator, offset: offset), unit)
    (field.unknownNumbers, field.isHidden) = (unknown, hidden)
    return field
  }

  /// Units on one line, which are called by 3F and their number, and call themselves by their number.
  public static let units: ProtocolDescription = {
    var units = ProtocolDescription(name: "units")
    units.framings = [
      Framing(
        name: "frame",
        form: .layout([
          Element("start", .constant([0xA5])), Element("address", .number(u8)), Element("id", .number(u8)),
          Element("data", .body(1)), Element("check", .check(Check(.frame(.sum8), covers: 0...3))),
        ]))
    ]
    var basic = ProtocolDescription.Message(name: "basic", framing: 0)
    basic.conditions = [.init(2, [0x90])]
    basic.body = .fields([.field(field("battery.percent", u8, unit: "%"))])
    units.messages = [basic]
    var request = ProtocolDescription.Request(
      name: "basic", sends: .frame(framing: 0, elements: [2: 0x90], body: [.bytes([0])]))
    request.reply = 0
    request.echoes = [.init(request: 2, reply: 2)]
    units.requests = [request]
    units.plan.gap = 20_000_000
    units.units = .init("address", 1...16)
    units.units?.sentOffset = 0x3F
    return units
  }()

  /// JBD's BMS: the check of a reply doesn't cover the register.
  public static let jbd: ProtocolDescription = {
    var jbd = ProtocolDescription(name: "jbd")
    func layout(_ middle: Element, covers: ClosedRange<Int>) -> ProtocolDescription.Form {
      .layout([
        Element("start", .constant([0xDD])),
        covers.lowerBound == 2 && middle.name == "direction"
          ? middle : Element("register", .number(u8)),
        covers.lowerBound == 2 && middle.name == "direction" ? Element("register", .number(u8)) : middle,
        Element("length", .length(u8, of: 4...4, adjust: 0, nibbleCheck: false)), Element("data", .body(nil)),
        Element("check", .check(Check(.negatedSum16, covers: covers))), Element("end", .constant([0x77])),
      ])
    }
    jbd.framings = [
      Framing(name: "answer", form: layout(Element("status", .number(u8)), covers: 2...4)),
      Framing(name: "command", form: layout(Element("direction", .number(u8)), covers: 2...4)),
    ]
    var basic = ProtocolDescription.Message(name: "basic", framing: 0)
    basic.conditions = [.init(1, [3]), .init(2, [0])]
    var faults = field("battery.faults", u16)
    faults.flags = [0: "cell-overvoltage", 12: "mosfet-software-lock"]
    var charge = field("charge_mosfet", u8)
    (charge.isBoolean, charge.bits) = (true, .init(lowest: 0, count: 1, staysHere: true))
    var discharge = field("discharge_mosfet", u8)
    (discharge.isBoolean, discharge.bits) = (true, .init(lowest: 1, count: 1))
    basic.body = .fields([
      .field(field("battery.voltage", u16, over: 100, unit: "V")),
      .field(field("battery.current", i16, over: 100, unit: "A")),
      .field(field("battery.remaining", u16, over: 100, unit: "Ah")),
      .field(field("battery.full", u16, over: 100, unit: "Ah")), .field(field("battery.cycles", u16)),
      .field(Field("production", .packedDate(.bigEndian))), .skip(4), .field(faults),
      .field(field("version", u8, hidden: true)), .field(field("battery.percent", u8, unit: "%")), .field(charge),
      .field(discharge), .field(field("cells", u8, hidden: true)), .field(field("sensors", u8, hidden: true)),
      .group([.field(field("battery.temperatures", u16, over: 10, offset: -2731, unit: "°C"))], .field("sensors")),
    ])
    var cells = ProtocolDescription.Message(name: "cells", framing: 0)
    cells.conditions = [.init(1, [4]), .init(2, [0])]
    cells.body = .fields([.group([.field(field("battery.cells", u16, over: 1000, unit: "V"))], .toEnd)])
    var refused = ProtocolDescription.Message(name: "refused", framing: 0)
    refused.conditions = [.init(2, [0])]
    refused.conditions[0].isNegated = true
    refused.isRefusal = true
    refused.refusalReason = 2
    refused.refusalWords = [0x80: "this register isn't known"]
    jbd.messages = [basic, cells, refused]
    func request(_ name: String, _ register: Int, reply: Int) -> ProtocolDescription.Request {
      var request = ProtocolDescription.Request(
        name: name, sends: .frame(framing: 1, elements: [1: 0xA5, 2: register], body: []))
      request.reply = reply
      request.echoes = [.init(request: 2, reply: 1)]
      return request
    }
    jbd.requests = [request("basic", 3, reply: 0), request("cells", 4, reply: 1)]
    jbd.plan.timeout = 500_000_000
    jbd.plan.tries = 3
    jbd.plan.gap = 20_000_000
    return jbd
  }()

  /// VE.Direct: blocks of text with hexadecimal messages amid.
  public static let vedirect: ProtocolDescription = {
    var vedirect = ProtocolDescription(name: "vedirect")
    var block = Framing(
      name: "block", form: .pairs(.init(begin: [13, 10], separator: 9, close: Array("Checksum".utf8))))
    block.limit = 1_024
    var digits = ProtocolDescription.Hexadecimal()
    digits.beginsWithOneDigit = true
    var hexadecimal = Framing(
      name: "hex",
      form: .hexadecimal(
        [
          Element("start", .constant([0x3A])), Element("command", .number(u8)), Element("data", .body(nil)),
          Element("check", .check(Check(.sumTo55, covers: 1...2))), Element("end", .constant([0x0A])),
        ], digits))
    hexadecimal.interrupts = true
    vedirect.framings = [block, hexadecimal]
    var main = ProtocolDescription.Message(name: "main", framing: 0)
    func text(_ name: String, over denominator: Int = 1, unknown: [String] = []) -> Field {
      var field = Field(name, .decimal(suffix: ""))
      (field.formula, field.unknownTexts) = (.scaled(over: denominator), unknown)
      return field
    }
    main.body = .pairs(
      .init(
        lineEnd: nil, separator: [9],
        fields: [
          "V": text("battery.voltage", over: 1000), "I": text("battery.current", over: 1000),
          "SOC": text("battery.percent", over: 10, unknown: ["---"]), "PID": Field("product", .hexadecimal),
          "SER#": Field("identity.serial", .plainText),
        ]))
    vedirect.messages = [main]
    return vedirect
  }()

  /// Pylontech's batteries: everything in hexadecimal digits.
  public static let pylontech: ProtocolDescription = {
    var pylontech = ProtocolDescription(name: "pylontech")
    var digits = ProtocolDescription.Hexadecimal()
    (digits.checksCoverDigits, digits.lengthCountsDigits) = (true, true)
    var check = Check(.negatedSum16, covers: 1...6)
    check.order = .bigEndian
    pylontech.framings = [
      Framing(
        name: "answer",
        form: .hexadecimal(
          [
            Element("start", .constant([0x7E])), Element("version", .number(u8)), Element("address", .number(u8)),
            Element("group", .number(u8)), Element("code", .number(u8)),
            Element("length", .length(u16, of: 6...6, adjust: 0, nibbleCheck: true)), Element("data", .body(nil)),
            Element("check", .check(check)), Element("end", .constant([0x0D])),
          ], digits))
    ]
    var cells = ProtocolDescription.Message(name: "analog", framing: 0)
    let u24 = Number(byteCount: 3)
    var small = field("remaining_16", u16, over: 1000, unknown: [0xFFFF])
    small.isHidden = true
    cells.body = .fields([
      .skip(2), .field(field("count", u8, hidden: true)),
      .group([.field(field("battery.cells", u16, over: 1000))], .field("count")),
      .field(field("sensors", u8, hidden: true)),
      .group([.field(field("battery.temperatures", u16, over: 10, offset: -2731))], .field("sensors")),
      .field(field("battery.current", i16, over: 10)), .field(field("battery.voltage", u16, over: 1000)),
      .field(small), .field(field("more", u8, hidden: true)),
      .field(field("full_16", u16, over: 1000, unknown: [0xFFFF])),
      .field(field("battery.cycles", u16)),
      .when(
        .init("more", 3...1_000_000_000_000),
        [.field(field("remaining_24", u24, over: 1000)), .field(field("full_24", u24, over: 1000))]),
    ])
    pylontech.messages = [cells]
    pylontech.derived = [
      .init("battery.remaining", formula("first(remaining_16, remaining_24)")),
      .init("battery.full", formula("first(full_16, full_24)")),
      .init("battery.percent", formula("percent(battery.remaining, battery.full)")),
    ]
    return pylontech
  }()

  /// PI30 inverters: text with a binary check.
  public static let pi30: ProtocolDescription = {
    var pi30 = ProtocolDescription(name: "pi30")
    var check = Check(.frame(.crc(.crc16XMODEM)), covers: 0...1)
    check.incrementedBytes = [0x28, 0x0D, 0x0A]
    pi30.framings = [
      Framing(
        name: "answer",
        form: .layout([
          Element("start", .constant([0x28])), Element("data", .body(nil)), Element("check", .check(check)),
          Element("end", .constant([0x0D])),
        ]))
    ]
    var status = ProtocolDescription.Message(name: "status", framing: 0)
    var bits = Field("flags", .bitText(firstIsHighest: true))
    bits.flags = [1: "scc_charging", 2: "charging", 4: "load_on", 5: "updated"]
    status.body = .columns(
      .init(
        .blanks,
        [
          .init(8, Field("battery.voltage", .decimal(suffix: ""))),
          .init(9, Field("charging_current", .decimal(suffix: ""))),
          .init(10, Field("battery.percent", .decimal(suffix: ""))), .init(16, bits),
          .init(30, isOptional: true, Field("feed", .decimal(suffix: ""))),
        ]))
    pi30.messages = [status]
    return pi30
  }()

  /// AF1's frames.
  public static let af1: ProtocolDescription = {
    var af1 = ProtocolDescription(name: "af1")
    let little16 = Number(byteCount: 2, order: .littleEndian)
    var payload = Check(.frame(.crc(.crc32ISOHDLC)), covers: 6...6, order: .littleEndian)
    payload.isPresentIfEmpty = false
    var framing = Framing(
      name: "frame",
      form: .layout([
        Element("start", .constant([0x0F, 0xF0])), Element("flags", .number(u8)), Element("command", .number(u8)),
        Element("number", .number(little16)),
        Element("length", .length(little16, of: 6...6, adjust: 0, nibbleCheck: false)),
        Element("header_check", .check(Check(.frame(.crc(.crc16IBM3740)), covers: 0...4, order: .littleEndian))),
        Element("data", .body(nil)), Element("check", .check(payload)),
      ]))
    // The header's check stands behind the length, the body behind that.
    if case .layout(var elements) = framing.form {
      elements[4].kind = .length(little16, of: 6...6, adjust: 0, nibbleCheck: false)
      framing.form = .layout(elements)
    }
    framing.limit = 1_024 + 14
    af1.framings = [framing]
    return af1
  }()

  /// HM-1X's control frames.
  public static let hm1x: ProtocolDescription = {
    var hm1x = ProtocolDescription(name: "hm1x")
    hm1x.framings = [
      Framing(name: "frame", form: .window(pattern: [0, 0, 0, 0x3A], mask: [0xC0, 0x80, 0x80, 0xFF]))
    ]
    var drive = ProtocolDescription.Message(name: "drive", framing: 0)
    func light(_ name: String, bit: Int) -> Field {
      var field = Field(name, .scattered([.init(byte: 0, lowest: bit)], sign: nil))
      field.isBoolean = true
      return field
    }
    drive.body = .fields([
      .field(
        Field(
          "steering",
          .scattered(
            [.init(byte: 0, lowest: 2), .init(byte: 1, lowest: 0, count: 7)], sign: .init(byte: 0, lowest: 0)))),
      .field(
        Field(
          "acceleration",
          .scattered(
            [.init(byte: 0, lowest: 3), .init(byte: 2, lowest: 0, count: 7)], sign: .init(byte: 0, lowest: 1)))),
      .field(light("headlights", bit: 4)), .field(light("brake_lights", bit: 5)),
    ])
    hm1x.messages = [drive]
    return hm1x
  }()

  /// Bluno's speeds, `<120>`.
  public static let bluno: ProtocolDescription = {
    var bluno = ProtocolDescription(name: "bluno")
    var framing = Framing(
      name: "speed",
      form: .layout([
        Element("start", .constant([0x3C])), Element("data", .body(nil)), Element("end", .constant([0x3E])),
      ]))
    framing.limit = 16
    bluno.framings = [framing]
    var speed = ProtocolDescription.Message(name: "speed", framing: 0)
    speed.body = .pattern(.init([.field(Field("speed", .decimal(suffix: "")))]))
    bluno.messages = [speed]
    return bluno
  }()

  /// A sensor of particles in the air: 42 4D, a length, thirteen numbers, their plain sum.
  public static let pms5003: ProtocolDescription = {
    var pms = ProtocolDescription(name: "pms5003")
    pms.framings = [
      Framing(
        name: "frame",
        form: .layout([
          Element("start", .constant([0x42, 0x4D])),
          Element("length", .length(u16, of: 2...3, adjust: 0, nibbleCheck: false)), Element("data", .body(nil)),
          Element("check", .check(Check(.sum16, covers: 0...2))),
        ]))
    ]
    var reading = ProtocolDescription.Message(name: "reading", framing: 0)
    reading.body = .fields([
      .field(field("pm1", u16)), .field(field("pm2_5", u16)), .field(field("pm10", u16)), .skip(6),
      .group([.field(field("particles", u16))], .fixed(6)), .skip(2),
    ])
    reading.isPushed = true
    pms.messages = [reading]
    return pms
  }()

  /// Daly's BMS: cells come in several frames, whose number another reply tells.
  public static let daly: ProtocolDescription = {
    var daly = ProtocolDescription(name: "daly")
    func framing(_ name: String) -> Framing {
      Framing(
        name: name,
        form: .layout([
          Element("start", .constant([0xA5])), Element("address", .number(u8)), Element("id", .number(u8)),
          Element("count", .constant([8])), Element("data", .body(8)),
          Element("check", .check(Check(.frame(.sum8), covers: 0...4))),
        ]))
    }
    daly.framings = [framing("frame")]
    func message(_ name: String, _ id: Int, _ steps: [ProtocolDescription.Step]) -> ProtocolDescription.Message {
      var message = ProtocolDescription.Message(name: name, framing: 0)
      message.conditions = [.init(1, [1]), .init(2, [id])]
      message.body = .fields(steps)
      return message
    }
    var cells = message(
      "cells", 0x95,
      [
        .field(field("number", u8, hidden: true)),
        .group([.field(field("battery.cells", u16, over: 1000, unit: "V"))], .fixed(3)),
      ])
    cells.pieces = ProtocolDescription.Pieces(index: "number")
    cells.pieces?.first = 1
    cells.pieces?.count = "cell_count"
    cells.pieces?.each = 3
    daly.messages = [
      message("counts", 0x94, [.field(field("cell_count", u8)), .field(field("sensor_count", u8))]), cells,
    ]
    func request(_ name: String, _ id: Int, reply: Int) -> ProtocolDescription.Request {
      var request = ProtocolDescription.Request(
        name: name,
        sends: .frame(framing: 0, elements: [1: 0x40, 2: id], body: [.bytes([UInt8](repeating: 0, count: 8))]))
      request.reply = reply
      return request
    }
    daly.requests = [request("counts", 0x94, reply: 0), request("cells", 0x95, reply: 1)]
    return daly
  }()
}
