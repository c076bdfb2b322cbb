// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryProtocols
import AccessorySimulator
import FamilyEV3

/// Runs a direct command: its instructions, the position among them, and its memory.
struct EV3Machine: Sendable {
  enum Outcome: Sendable {
    case done, failed, waits
  }

  /// Why an instruction hasn't finished.
  enum Stop: Error, Sendable {
    /// The instruction failed.
    case failed
    /// The instruction waits until this time or, with nil, for an event.
    case waits(MonotonicTime?)
  }

  let message: EV3Message
  private(set) var globals: [UInt8]
  private var locals: [UInt8]
  private let code: [EV3Instruction]
  private var next = 0
  /// When to continue; nil when the command doesn't wait for a time.
  private(set) var wakeTime: MonotonicTime?
  /// The times that TIMER_WAIT has set, by the address of its variable.
  private var timers: [EV3Parameter.Value: MonotonicTime] = [:]

  init(_ command: EV3DirectCommand, _ code: [EV3Instruction], _ message: EV3Message) {
    globals = [UInt8](repeating: 0, count: command.globalByteCount)
    locals = [UInt8](repeating: 0, count: command.localByteCount)
    self.code = code
    self.message = message
  }

  /// Runs instructions until the end, a failure, or a wait.
  mutating func run(on device: inout EV3Device, now: MonotonicTime) -> Outcome {
    wakeTime = nil
    while next < code.count {
      do throws(Stop) {
        try run(code[next], on: &device, now: now)
      } catch {
        guard case .waits(let time) = error else { return .failed }
        wakeTime = time
        return .waits
      }
      next += 1
    }
    return .done
  }

  private mutating func run(
    _ instruction: EV3Instruction, on device: inout EV3Device, now: MonotonicTime
  ) throws(Stop) {
    var call = EV3Call(instruction.parameters, globals: globals, locals: locals)
    switch instruction.operation.opcode {
    case 0x85:
      timers[instruction.parameters[1].value] = now + .milliseconds(try call.number(0))
    case 0x86:
      if let time = timers[instruction.parameters[0].value], time > now { throw .waits(time) }
    default: try device.run(instruction, &call, now)
    }
    (globals, locals) = (call.globals, call.locals)
  }
}

/// The parameters of an instruction, and the memory that they refer to.
struct EV3Call {
  private let parameters: [EV3Parameter]
  private(set) var globals: [UInt8]
  private(set) var locals: [UInt8]

  init(_ parameters: [EV3Parameter], globals: [UInt8], locals: [UInt8]) {
    self.parameters = parameters
    self.globals = globals
    self.locals = locals
  }

  var count: Int { parameters.count }

  /// The value of a numeric parameter: a constant, or the contents of a variable.
  func number(_ index: Int, byteCount: Int = 4) throws(EV3Machine.Stop) -> Int {
    switch parameters[index].value {
    case .constant(let value): return Int(value)
    case .text: throw .failed
    case .local(let offset): return try Self.load(locals, offset, byteCount)
    case .global(let offset): return try Self.load(globals, offset, byteCount)
    }
  }

  private static func load(_ memory: [UInt8], _ offset: Int, _ byteCount: Int) throws(EV3Machine.Stop) -> Int {
    guard offset >= 0, offset + byteCount <= memory.count else { throw .failed }
    let bits = (0..<byteCount).reduce(UInt32(0)) { $0 | UInt32(memory[offset + $1]) << UInt32(8 * $1) }
    let unused = UInt32(32 - 8 * byteCount)
    return Int(Int32(bitPattern: bits << unused) >> Int32(unused))
  }

  func text(_ index: Int) throws(EV3Machine.Stop) -> String {
    guard case .text(let bytes) = parameters[index].value else { throw .failed }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Writes to the variable of a parameter. Fails when a global variable isn't aligned, as in the firmware.
  mutating func set(_ index: Int, _ value: Int, byteCount: Int = 1) throws(EV3Machine.Stop) {
    let bytes = (0..<byteCount).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    if case .global(let offset) = parameters[index].value, offset % byteCount != 0 { throw .failed }
    try store(index, bytes)
  }

  mutating func set(_ index: Int, _ value: Float) throws(EV3Machine.Stop) {
    try set(index, Int(truncatingIfNeeded: value.bitPattern), byteCount: 4)
  }

  /// Writes a text to a variable, truncated so that a zero byte follows. The size of the variable is in the parameter
  /// before it, or in the one at `place`.
  mutating func set(_ index: Int, _ text: String, roomAt place: Int? = nil) throws(EV3Machine.Stop) {
    let room = try number(place ?? index - 1, byteCount: 1)
    guard room > 0 else { throw .failed }
    let bytes = Array(text.utf8.prefix(room - 1))
    try store(index, bytes + [UInt8](repeating: 0, count: room - bytes.count))
  }

  mutating func store(_ index: Int, _ bytes: [UInt8]) throws(EV3Machine.Stop) {
    switch parameters[index].value {
    case .local(let offset): try Self.store(bytes, &locals, offset)
    case .global(let offset): try Self.store(bytes, &globals, offset)
    case .constant, .text: throw .failed
    }
  }

  private static func store(_ bytes: [UInt8], _ memory: inout [UInt8], _ offset: Int) throws(EV3Machine.Stop) {
    guard offset >= 0, offset + bytes.count <= memory.count else { throw .failed }
    memory.replaceSubrange(offset..<(offset + bytes.count), with: bytes)
  }
}
