// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols

extension ProtocolDescription {
  /// The indices of the elements at the beginning of Modbus frames.
  enum ModbusElement {
    static let function = 1
    /// In a reply: the count of bytes that follow.
    static let byteCount = 2
    /// In a request: the address of the first register.
    static let start = 2
    /// In a request: the count of registers.
    static let count = 3
    /// In an exception: the code of the reason.
    static let code = 2
  }

  /// Makes this a Modbus protocol, with its framings and the message for exceptions, but without requests. `unit` is
  /// the default unit, 0…255.
  public mutating func becomeModbus(_ rules: ModbusRules, unit: Int = 1) {
    modbus = rules
    var units = Units("unit", 0...255)
    (units.defaultUnit, units.scan) = (unit, 1...247)
    self.units = units
    framings = ModbusForm.allCases.map(Self.framing)
    var refusal = Message(name: "exception", framing: ModbusForm.exception.rawValue)
    refusal.isRefusal = true
    refusal.refusalReason = ModbusElement.code
    refusal.refusalWords = Modbus.exceptions
    messages = [refusal]
  }

  /// Adds a request that reads these registers, and its reply, both with this name. Returns the index of the request.
  @discardableResult
  public mutating func addRequest(_ name: String, _ summary: String, reads block: RegisterBlock) -> Int {
    var reply = Message(name: name, framing: ModbusForm.reply.rawValue)
    reply.conditions = Self.conditions(ofReply: block)
    reply.body = .registers(block)
    var request = Request(
      name: name,
      sends: .frame(
        framing: ModbusForm.request.rawValue,
        elements: Self.elements(reading: block), body: []))
    request.summary = summary
    request.reply = messages.count
    request.echoes = [Echo(request: ModbusElement.function, reply: ModbusElement.function)]
    request.refusals = messages.indices.filter { messages[$0].isRefusal }
    messages.append(reply)
    requests.append(request)
    return requests.count - 1
  }

  /// The numbers in a request that reads these registers, by the indices of their elements.
  static func elements(reading block: RegisterBlock) -> [Int: Int] {
    [ModbusElement.function: block.function, ModbusElement.start: block.start, ModbusElement.count: block.count]
  }

  /// What the elements of a reply with these registers must be.
  static func conditions(ofReply block: RegisterBlock) -> [Condition] {
    [Condition(ModbusElement.function, [block.function]), Condition(ModbusElement.byteCount, [block.byteCount])]
  }

  /// The length of the longest frame that a message can have, in bytes.
  public func longestFrame(of message: Int) -> Int {
    if case .registers(let block) = messages[message].body { return block.byteCount + 5 }
    return messages[message].framings.map { framings[$0].limit }.max() ?? 0
  }

  private static func framing(_ form: ModbusForm) -> Framing {
    let byte = NumberFormat(byteCount: 1)
    let word = NumberFormat(byteCount: 2)
    var elements = [Element("unit", .number(byte)), Element("function", .number(byte))]
    switch form {
    case .reply:
      elements.append(Element("length", .length(byte, of: 3...3, adjust: 0, nibbleCheck: false)))
      elements.append(Element("data", .body(nil)))
    case .request:
      elements += [Element("start", .number(word)), Element("count", .number(word)), Element("data", .body(0))]
    case .exception: elements += [Element("code", .number(byte)), Element("data", .body(0))]
    }
    let check = Check(.frame(.crc(.crc16MODBUS)), covers: 0...(elements.count - 1), order: .littleEndian)
    var framing = Framing(name: "\(form)", form: .layout(elements + [Element("check", .check(check))]))
    framing.limit = Modbus.frameLimit
    return framing
  }
}
