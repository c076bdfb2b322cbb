// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryProtocols
import AccessorySimulator
import FamilyEV3

// Runs the instructions of direct commands on a simulated brick.

extension EV3Device {
  typealias Stop = EV3Machine.Stop

  mutating func run(_ instruction: EV3Instruction, _ call: inout EV3Call, _ now: MonotonicTime) throws(Stop) {
    let subcode = instruction.operation.subcode ?? 0
    switch instruction.operation.opcode {
    case 0x01: break
    case 0x02: if try call.number(0) == 1 { program = nil }
    case 0x03: try startProgram(&call)
    case 0x3A: try call.set(1, call.number(0), byteCount: 4)
    case 0x7C: try info(subcode, &call)
    case 0x81: try read(subcode, &call, now)
    case 0x82: try write(subcode, &call)
    case 0x83: try button(subcode, &call)
    case 0x84: record(instruction)
    case 0x90: try call.set(0, sleepMinutes)
    case 0x94: try sound(subcode, &call, now)
    case 0x95: try call.set(0, soundEnd > now ? 1 : 0)
    case 0x96: if soundEnd > now { throw .waits(soundEnd) }
    case 0x98, 0x99, 0x9A, 0x9B, 0x9C, 0x9D, 0x9E:
      try sensor(instruction.operation.opcode, subcode, &call, now)
    case 0xA0...0xB4: try motor(instruction.operation.opcode, &call, now)
    case 0xC0: try file(subcode, &call)
    case 0xC5:
      try call.set(0, 16_384, byteCount: 4)
      try call.set(1, 8_192, byteCount: 4)
    case 0xD3: try network(subcode, &call)
    case 0xD4: if subcode == 8 { configuration.name = try call.text(0) }
    default: throw .failed  // opERROR
    }
  }

  private mutating func startProgram(_ call: inout EV3Call) throws(Stop) {
    // The address must be one that LOAD_IMAGE returned.
    let address = try call.number(2)
    guard try call.number(0) == 1, let path = loaded[address] else { throw .failed }
    program = path
  }

  /// The loaded programs by address. The address follows from the position in the list.
  private var loaded: [Int: String] {
    Dictionary(uniqueKeysWithValues: images.enumerated().map { (0x1000 + $0.offset, $0.element) })
  }

  private mutating func file(_ subcode: UInt8, _ call: inout EV3Call) throws(Stop) {
    switch subcode {
    case 10: return try call.set(1, files.makeFolder(try call.text(0)) == .success ? 1 : 0)
    case 13:
      guard let entries = files.entries(try call.text(0)) else { throw .failed }
      let count = entries.count { if case .folder = $0 { true } else { false } }
      return try call.set(1, count)
    case 30:
      guard files.remove(try call.text(0)) == .success else { throw .failed }
      return
    case 31:
      let (old, new) = (try call.text(0), try call.text(1))
      guard let bytes = files.contents(old), SimulatedFiles.isWritable(new), files.entries(new) == nil else {
        throw .failed
      }
      _ = files.remove(old)
      return files.put(bytes, at: new)
    default: break
    }
    let path = try call.text(1)
    guard let bytes = files.contents(path) else { throw .failed }
    if !images.contains(path) { images.append(path) }
    try call.set(2, bytes.count, byteCount: 4)
    try call.set(3, 0x1000 + (images.firstIndex(of: path) ?? 0), byteCount: 4)
  }

  private mutating func info(_ subcode: UInt8, _ call: inout EV3Call) throws(Stop) {
    switch subcode {
    case 4: try call.set(0, volume)
    case 5: volume = try call.number(0, byteCount: 1)
    case 6: try call.set(0, sleepMinutes)
    default: sleepMinutes = try call.number(0, byteCount: 1)
    }
  }

  private func read(_ subcode: UInt8, _ call: inout EV3Call, _ now: MonotonicTime) throws(Stop) {
    let amperes = configuration.amperes
    switch subcode {
    case 1: try call.set(0, volts(now))
    case 2: try call.set(0, amperes)
    case 3: try call.set(1, configuration.osVersion)
    case 4, 16: try call.set(0, 0)  // nothing has happened, and the brick isn't about to switch itself off
    case 5: try call.set(0, Float(0))
    case 8: try call.set(1, "")  // no terminal input
    case 27: try call.set(1, address)
    case 6, 7: try call.set(0, subcode == 6 ? amperes : Float(0))
    case 9: try call.set(1, configuration.hardwareVersion)
    case 10: try call.set(1, configuration.firmwareVersion)
    case 11, 12: try call.set(1, "1512030906")
    case 17: try call.set(0, Int(configuration.warnings.rawValue))
    case 18: try call.set(0, Int(percent(now)))
    case 26:
      try call.set(1, "LMS2012 \(configuration.firmwareVersion)(\(configuration.osVersion))")
    case 29:
      try call.set(0, volts(now))
      try call.set(1, amperes)
      try call.set(2, amperes)
      try call.set(3, Float(0))
    default:
      try call.set(0, 0)  // neither a memory card nor a USB stick
      try call.set(1, 0, byteCount: 4)
      try call.set(2, 0, byteCount: 4)
    }
  }

  private mutating func write(_ subcode: UInt8, _ call: inout EV3Call) throws(Stop) {
    switch subcode {
    case 22:
      if try call.number(0, byteCount: 1) != 0 {
        configuration.warnings.insert(.busy)
      } else {
        configuration.warnings.remove(.busy)
      }
    case 27: try light(&call)
    default: break  // output to the brick's terminal is ignored
    }
  }

  /// The brick's IP address in replies. It isn't the address that the simulator listens at.
  private var address: String { "127.0.0.1" }

  private func network(_ subcode: UInt8, _ call: inout EV3Call) throws(Stop) {
    if subcode == 13 { return try call.set(1, configuration.name) }
    let hardware = try call.number(0, byteCount: 1)
    guard (1...3).contains(hardware) else { throw .failed }  // USB, Bluetooth, Wi-Fi
    switch subcode {
    case 1, 2: try call.set(1, 1)
    case 12: try call.set(2, configuration.serialNumber)
    default:
      for (index, text) in [configuration.name, configuration.serialNumber, address].enumerated() {
        try call.set(2 + index, text, roomAt: 1)
      }
    }
  }

  private mutating func light(_ call: inout EV3Call) throws(Stop) {
    guard let pattern = UInt8(exactly: try call.number(0, byteCount: 1)), let led = EV3LED(rawValue: pattern) else {
      throw .failed
    }
    self.led = led
  }

  private mutating func sound(_ subcode: UInt8, _ call: inout EV3Call, _ now: MonotonicTime) throws(Stop) {
    switch subcode {
    case 0:
      record(.stop)
      soundEnd = now
    case 1:
      let duration = Duration.milliseconds(try call.number(2, byteCount: 2))
      record(
        .tone(volume: try call.number(0, byteCount: 1), frequency: try call.number(1, byteCount: 2), duration: duration)
      )
      soundEnd = now + max(.zero, duration)
    default:
      record(.file(try call.text(1), volume: try call.number(0, byteCount: 1), isRepeated: subcode == 3))
      // The length of a sound file isn't known, so it plays for half a second.
      soundEnd = subcode == 3 ? MonotonicTime(nanoseconds: .max) : now + .milliseconds(500)
    }
  }

  private mutating func button(_ subcode: UInt8, _ call: inout EV3Call) throws(Stop) {
    func isOne(of set: Set<UInt8>, _ button: Int) -> Bool {
      button == Int(EV3Button.any.rawValue) ? !set.isEmpty : set.contains(UInt8(truncatingIfNeeded: button))
    }
    switch subcode {
    case 1, 14:
      let button = try call.number(0, byteCount: 1)
      try call.set(1, isOne(of: bumped, button) ? 1 : 0)
      bumped = button == Int(EV3Button.any.rawValue) ? [] : bumped.subtracting([UInt8(truncatingIfNeeded: button)])
    case 2, 13: try call.set(1, 0)
    case 12: try call.set(1, isOne(of: bumped, call.number(0, byteCount: 1)) ? 1 : 0)
    case 3: if pressed.isEmpty { throw .waits(nil) }
    case 4: bumped = []
    case 5: pressed.insert(UInt8(truncatingIfNeeded: try call.number(0, byteCount: 1)))
    case 6:
      let button = UInt8(truncatingIfNeeded: try call.number(0, byteCount: 1))
      if pressed.remove(button) != nil { bumped.insert(button) }
    case 7: try call.set(0, direction(EV3Button.right, EV3Button.left), byteCount: 2)
    case 8: try call.set(0, direction(EV3Button.down, EV3Button.up), byteCount: 2)
    case 9: try call.set(1, isOne(of: pressed, call.number(0, byteCount: 1)) ? 1 : 0)
    case 10: isBackBlocked = try call.number(0, byteCount: 1) != 0
    case 11: try call.set(0, isBackBlocked ? 1 : 0)
    default:
      try call.set(0, bumped.isEmpty ? 0 : 1)
      bumped = []
    }
  }

  private func direction(_ more: EV3Button, _ less: EV3Button) -> Int {
    (pressed.contains(more.rawValue) ? 1 : 0) - (pressed.contains(less.rawValue) ? 1 : 0)
  }
}
