// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryProtocols
import AccessorySimulator
import FamilyEV3

// Motors and sensors of a simulated brick. Only layer 0 exists, because no further bricks are connected.

extension EV3Device {
  mutating func motor(_ opcode: UInt8, _ call: inout EV3Call, _ now: MonotonicTime) throws(Stop) {
    if opcode == 0xB4 { return eachMotor(15) { $0.stop(brake: false, now) } }
    guard try call.number(0, byteCount: 1) == 0 else { throw .failed }
    let ports = try call.number(1, byteCount: 1)
    switch opcode {
    case 0xA0, 0xA1, 0xA8, 0xB3: try oneMotor(opcode, ports, &call, now)
    default:
      guard (1...15).contains(ports) else { throw .failed }
      try motors(opcode, ports, &call, now)
    }
  }

  private mutating func eachMotor(_ ports: Int, _ body: (inout SimulatedMotor) -> Void) {
    for index in motors.indices where ports >> index & 1 == 1 { body(&motors[index]) }
  }

  private mutating func oneMotor(
    _ opcode: UInt8, _ port: Int, _ call: inout EV3Call, _ now: MonotonicTime
  ) throws(Stop) {
    guard motors.indices.contains(port) else { throw .failed }
    switch opcode {
    case 0xA0: try call.set(2, Int(motorTypes[port].rawValue))
    case 0xA1: motorTypes[port] = EV3DeviceType(rawValue: UInt8(truncatingIfNeeded: try call.number(2, byteCount: 1)))
    case 0xA8:
      try call.set(2, motors[port].speed(now))
      try call.set(3, motors[port].tacho(now), byteCount: 4)
    default: try call.set(2, motors[port].count(now), byteCount: 4)
    }
  }

  private mutating func motors(
    _ opcode: UInt8, _ ports: Int, _ call: inout EV3Call, _ now: MonotonicTime
  ) throws(Stop) {
    func byte(_ index: Int) throws(Stop) -> Int { try call.number(index, byteCount: 1) }
    let end = motors.indices.filter { ports >> $0 & 1 == 1 }.compactMap { motors[$0].end(now) }.max()
    switch opcode {
    case 0xA2: eachMotor(ports) { $0.reset(now) }
    case 0xA3:
      let brake = try byte(2) != 0
      eachMotor(ports) { $0.stop(brake: brake, now) }
    case 0xA4, 0xA5:
      let percent = try byte(2)
      eachMotor(ports) { $0.adjust(percent, now) }
    case 0xA6: eachMotor(ports) { $0.start(now) }
    case 0xA7:
      let sign = try byte(2)
      eachMotor(ports) { $0.setPolarity(sign, now) }
    case 0xA9: try call.set(2, end == nil ? 0 : 1)
    case 0xAA: if let end { throw .waits(end) }
    case 0xAC...0xAF:
      let (percent, up, constant) = (try byte(2), try call.number(3), try call.number(4))
      let (down, brake) = (try call.number(5), try byte(6) != 0)
      let isTime = opcode & 1 == 1
      eachMotor(ports) { motor in
        if isTime {
          motor.run(percent: percent, up: up, constant: constant, down: down, brake: brake, now)
        } else {
          motor.step(percent: percent, up: up, constant: constant, down: down, brake: brake, now)
        }
      }
    case 0xB0, 0xB1:
      try together(ports, isTime: opcode == 0xB1, &call, now)
    default: eachMotor(ports) { $0.clearCount(now) }
    }
  }

  /// Runs two motors together. A positive `turn` slows the second motor down by that percentage, a negative one the first.
  private mutating func together(
    _ ports: Int, isTime: Bool, _ call: inout EV3Call, _ now: MonotonicTime
  ) throws(Stop) {
    let pair = motors.indices.filter { ports >> $0 & 1 == 1 }
    let (speed, turn) = (try call.number(2, byteCount: 1), try call.number(3, byteCount: 2))
    let (length, brake) = (try call.number(4), try call.number(5, byteCount: 1) != 0)
    guard pair.count == 2, (-200...200).contains(turn) else { throw .failed }
    for (index, motor) in pair.enumerated() {
      let isSlower = (turn > 0) == (index == 1)
      let share = isSlower ? 100 - abs(turn) : 100
      if isTime {
        motors[motor].run(percent: speed * share / 100, up: 0, constant: length, down: 0, brake: brake, now)
      } else {
        motors[motor].step(
          percent: speed * share / 100, up: 0, constant: length * abs(share) / 100, down: 0, brake: brake, now)
      }
    }
  }

  // MARK: - Sensors

  mutating func sensor(
    _ opcode: UInt8, _ subcode: UInt8, _ call: inout EV3Call, _ now: MonotonicTime
  ) throws(Stop) {
    if opcode == 0x98 { return try list(&call) }
    if opcode == 0x99, subcode == 3 || subcode == 4 { return }  // simulated sensors need no calibration
    guard try call.number(0, byteCount: 1) == 0 else { throw .failed }
    if opcode == 0x99, subcode == 10 || subcode == 13 {
      changes = [:]
      if subcode == 13 { eachMotor(15) { $0.stop(brake: false, now) } }
      return
    }
    guard let port = UInt8(exactly: try call.number(1, byteCount: 1)).flatMap(EV3Port.init) else { throw .failed }
    switch opcode {
    case 0x99: try device(subcode, port, &call, now)
    case 0x9A:
      try choose(port, type: 2, mode: 3, call)
      try call.set(4, percents(port, now).first ?? -128)
    case 0x9B: try call.set(2, 0)
    case 0x9C: break
    case 0x9D:
      try choose(port, type: 2, mode: 3, call)
      try call.set(4, values(port, now).first ?? .nan)
    default:
      try choose(port, type: 2, mode: 3, call)
      guard let format = UInt8(exactly: try call.number(4, byteCount: 1)).flatMap(EV3Format.init) else {
        throw .failed
      }
      try give(port, format, from: 6, &call, now)
    }
  }

  private func list(_ call: inout EV3Call) throws(Stop) {
    let room = try call.number(0, byteCount: 1)
    guard (1...127).contains(room) else { throw .failed }
    // The list has the ports of four chained bricks: 4 inputs for each, then 4 outputs for each. Only the first brick exists.
    var types = (0..<32).map { index in
      switch index {
      case 0..<4: configuration.sensors[EV3Port.allCases[index]]?.type ?? .none
      case 16..<20: motorTypes[index - 16]
      default: EV3DeviceType.none
      }
    }
    types = Array(types.prefix(room))
    try call.store(1, types.map(\.rawValue) + [UInt8](repeating: 0, count: room - types.count))
    try call.set(2, 0)
  }

  /// Selects a sensor's mode. Type 0 and mode −1 change nothing. A type that isn't the sensor's is refused.
  private mutating func choose(_ port: EV3Port, type: Int, mode: Int, _ call: EV3Call) throws(Stop) {
    let (type, mode) = (try call.number(type, byteCount: 1), try call.number(mode, byteCount: 1))
    if type != 0, type != Int(typeAndMode(port).type.rawValue) { throw .failed }
    if let mode = UInt8(exactly: mode), port.motorNumber == nil { configuration.sensors[port]?.mode = mode }
  }

  private func typeAndMode(_ port: EV3Port) -> EV3TypeAndMode {
    if let motor = port.motorNumber { return EV3TypeAndMode(type: motorTypes[motor], mode: 0) }
    guard let sensor = configuration.sensors[port] else { return EV3TypeAndMode(type: .none, mode: 0) }
    return EV3TypeAndMode(type: sensor.type, mode: sensor.mode)
  }

  private func values(_ port: EV3Port, _ now: MonotonicTime) -> [Float] {
    if let motor = port.motorNumber { return [Float(motors[motor].count(now))] }
    return configuration.sensors[port]?.values ?? []
  }

  private func percents(_ port: EV3Port, _ now: MonotonicTime) -> [Int] {
    let range = configuration.sensors[port]?.range ?? -180...180
    return values(port, now).map { value in
      let share = (value - range.lowerBound) / (range.upperBound - range.lowerBound)
      return share.isFinite ? Int(max(0, min(1, share)) * 100) : -128
    }
  }

  private func give(
    _ port: EV3Port, _ format: EV3Format, from first: Int, _ call: inout EV3Call, _ now: MonotonicTime
  ) throws(Stop) {
    let (values, percents) = (values(port, now), percents(port, now))
    for index in first..<max(first, call.count) {
      let number = index - first
      let isThere = number < values.count
      switch format {
      case .percent: try call.set(index, isThere ? percents[number] : -128)
      case .raw:
        let raw = isThere && values[number].isFinite ? Int(values[number].rounded()) : Int(Int32.min)
        try call.set(index, raw, byteCount: 4)
      case .si: try call.set(index, isThere ? values[number] : .nan)
      }
    }
  }

  private mutating func device(
    _ subcode: UInt8, _ port: EV3Port, _ call: inout EV3Call, _ now: MonotonicTime
  ) throws(Stop) {
    let sensor = configuration.sensors[port]
    switch subcode {
    case 2:
      for (index, value) in [values(port, now).count, 3, sensor?.modeNames.count ?? 1, 1].enumerated() {
        try call.set(2 + index, value)
      }
    case 5:
      let known = typeAndMode(port)
      try call.set(2, Int(known.type.rawValue))
      try call.set(3, Int(known.mode))
    case 6: try call.set(3, sensor?.unit ?? "")
    case 11:
      let value = values(port, now).first.flatMap { $0.isFinite ? Int($0.rounded()) : nil }
      try call.set(2, value ?? Int(Int32.min), byteCount: 4)
    case 12: try call.set(2, typeAndMode(port).type == .none ? 0x7E : 0x79)
    case 21: try call.set(3, port.motorNumber == nil ? sensor?.name ?? "PORT ERROR" : "L-MOTOR-DEG")
    case 22:
      let mode = try call.number(2, byteCount: 1)
      let names = sensor?.modeNames ?? []
      try call.set(4, names.indices.contains(mode) ? names[mode] : "")
    case 24:
      try call.set(2, 4)
      try call.set(3, 0)
    case 25: try call.set(2, (values(port, now).first ?? 0) - (changes[port] ?? 0))
    case 31: try call.set(2, Float(0))
    case 26: changes[port] = values(port, now).first
    case 27, 28, 29:
      try choose(port, type: 2, mode: 3, call)
      try give(port, subcode == 27 ? .percent : subcode == 28 ? .raw : .si, from: 5, &call, now)
    default:
      let range = sensor?.range ?? -180...180
      try call.set(2, range.lowerBound)
      try call.set(3, range.upperBound)
    }
  }
}
