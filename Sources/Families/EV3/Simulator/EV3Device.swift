// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryProtocols
import AccessorySimulator
import FamilyEV3

/// The state of a simulated brick, and its replies to messages. Has no I/O and no clock.
public struct EV3Device: Sendable {
  /// A sensor at an input port.
  public struct Sensor: Sendable, Hashable {
    /// The sensor's type.
    public var type: EV3DeviceType
    /// The selected mode.
    public var mode: UInt8 = 0
    /// The sensor's name.
    public var name: String
    /// The names of the modes.
    public var modeNames: [String]
    /// The unit of the values.
    public var unit: String
    /// The current values, at most eight.
    public var values: [Float]
    /// The range of the values.
    public var range: ClosedRange<Float>

    /// A sensor with these values.
    public init(
      _ type: EV3DeviceType, name: String, modeNames: [String], unit: String, values: [Float],
      range: ClosedRange<Float>
    ) {
      self.type = type
      self.name = name
      self.modeNames = modeNames
      self.unit = unit
      self.values = values
      self.range = range
    }

    /// LEGO's touch sensor, not pressed.
    public static let touch = Sensor(
      .touch, name: "TOUCH", modeNames: ["Touch", "Bump"], unit: "", values: [0], range: 0...1)
    /// LEGO's colour sensor, above something dark.
    public static let color = Sensor(
      .color, name: "COL-REFLECT", modeNames: ["COL-REFLECT", "COL-AMBIENT", "COL-COLOR"], unit: "pct", values: [12],
      range: 0...100)
    /// LEGO's ultrasonic sensor, half a metre from a wall.
    public static let ultrasonic = Sensor(
      .ultrasonic, name: "US-DIST-CM", modeNames: ["US-DIST-CM", "US-DIST-IN", "US-LISTEN"], unit: "cm",
      values: [50], range: 0...255)
  }

  /// The brick's state when it is switched on.
  public struct Configuration: Sendable {
    /// The name that the user gave the brick.
    public var name = "EV3"
    /// The Bluetooth address without colons, which is the brick's serial number.
    public var serialNumber = "001653000001"
    /// The version of the firmware.
    public var firmwareVersion = "V1.09H"
    /// The version of the hardware.
    public var hardwareVersion = "V0.60"
    /// The version of the operating system.
    public var osVersion = "Linux 2.6.33-rc4"
    /// The battery's charge in percent, 0…100. The voltage follows it, as with alkaline cells. The default is 100.
    public var percent = 100.0
    /// How fast the battery drains, in percent per second. The default is 0.
    public var drain = 0.0
    /// The current out of the battery, in amperes. The default is 0.18.
    public var amperes: Float = 0.18
    /// The warnings that the brick reports.
    public var warnings: EV3Warnings = []
    /// The sensors at the input ports.
    public var sensors: [EV3Port: Sensor] = [.one: .touch, .three: .color, .four: .ultrasonic]
    /// The most files that the host can have open. The default is 16.
    public var handles = 16
    /// System commands that are refused, by command byte, with the status of the refusal.
    public var refusals: [UInt8: EV3Status] = [:]

    /// A brick with a full battery, three sensors and four motors.
    public init() {}
  }

  /// A sound that the brick played.
  public enum Sound: Sendable, Hashable {
    /// A tone, with its volume in percent and its frequency in hertz.
    case tone(volume: Int, frequency: Int, duration: Duration)
    /// A sound file.
    case file(String, volume: Int, isRepeated: Bool)
    /// The sound was stopped.
    case stop
  }

  /// The brick's current state.
  public var configuration: Configuration
  /// The brick's files.
  public var files = SimulatedFiles()
  /// The last sounds, at most 4096.
  public internal(set) var sounds: [Sound] = []
  /// The last drawing instructions, at most 4096.
  public internal(set) var drawings: [EV3Instruction] = []
  /// The pattern of the light around the buttons.
  public internal(set) var led = EV3LED.green
  /// The running program; nil when none is.
  public internal(set) var program: String?
  /// The last mailbox messages, at most 4096.
  public internal(set) var mail: [(name: String, payload: [UInt8])] = []
  /// How many direct commands have ended by themselves.
  public internal(set) var runs = 0
  /// How many direct commands were aborted by a following one.
  public internal(set) var abortions = 0

  var motors = Array(repeating: SimulatedMotor(), count: 4)
  var motorTypes: [EV3DeviceType] = [.largeMotor, .largeMotor, .mediumMotor, .largeMotor]
  /// The values from which changes of sensors are counted.
  var changes: [EV3Port: Float] = [:]
  /// The loaded programs.
  var images: [String] = []
  var pressed: Set<UInt8> = []
  /// Buttons that were pressed and released, and not asked about since.
  var bumped: Set<UInt8> = []
  var isBackBlocked = false
  var volume = 100
  var sleepMinutes = 30
  var soundEnd = MonotonicTime(nanoseconds: .min)
  var start: MonotonicTime?
  private var handles: SimulatedHandles
  /// The number of files that the host has open.
  public var openHandles: Int { handles.count }
  private var running: EV3Machine?

  static let recordLimit = 4_096

  /// A brick that was just switched on.
  public init(_ configuration: Configuration) {
    self.configuration = configuration
    handles = SimulatedHandles(limit: configuration.handles)
  }

  /// When `timePassed` must be called because a waiting command continues; nil when none waits for a time.
  public var deadline: MonotonicTime? { running?.wakeTime }

  /// Handles the loss of the host. Closes the host's files, unless the brick keeps them open.
  public mutating func hostLeft(keepsHandles: Bool) {
    running = nil
    if !keepsHandles { handles.closeAll() }
  }

  // MARK: - Messages

  /// Handles a message. Returns the messages to send now.
  public mutating func take(_ message: EV3Message, now: MonotonicTime) -> [EV3Message] {
    if start == nil { start = now }
    switch message.type {
    case .directCommand, .directCommandNoReply: return direct(message, now)
    case .systemCommand, .systemCommandNoReply: return system(message)
    default: return []
    }
  }

  /// Continues a command that waited for this time. Returns the messages to send.
  public mutating func timePassed(now: MonotonicTime) -> [EV3Message] { proceed(now) }

  private mutating func direct(_ message: EV3Message, _ now: MonotonicTime) -> [EV3Message] {
    // A new command aborts the running one, which then gets no reply.
    if running != nil { abortions += 1 }
    running = nil
    guard let command = try? EV3DirectCommand(decoding: message.body), let code = try? command.instructions() else {
      return message.type.wantsReply ? [EV3Message(number: message.number, type: .directError, body: [])] : []
    }
    running = EV3Machine(command, code, message)
    return proceed(now)
  }

  private mutating func proceed(_ now: MonotonicTime) -> [EV3Message] {
    guard var machine = running else { return [] }
    running = nil
    let outcome = machine.run(on: &self, now: now)
    guard outcome != .waits else {
      running = machine
      return []
    }
    runs += 1
    guard machine.message.type.wantsReply else { return [] }
    let number = machine.message.number
    return outcome == .done
      ? [EV3Message(number: number, type: .directReply, body: machine.globals)]
      : [EV3Message(number: number, type: .directError, body: [])]
  }

  private mutating func system(_ message: EV3Message) -> [EV3Message] {
    guard let code = message.body.first else { return [] }
    let reply: EV3SystemReply
    if let status = configuration.refusals[code] {
      reply = EV3SystemReply(code: code, status: status)
    } else if let command = try? EV3SystemCommand(decoding: message.body) {
      if case .writeMailbox(let name, let payload) = command {
        if mail.count >= Self.recordLimit { mail.removeFirst() }
        mail.append((name, payload))
      }
      reply = handles.answer(command, &files)
    } else {
      // BLUETOOTHPIN is accepted only over USB.
      reply = EV3SystemReply(code: code, status: code == 0x9F ? .illegalConnection : .unknownError)
    }
    return message.type.wantsReply ? [reply.message(message.number)] : []
  }

  // MARK: - User actions

  /// Presses or releases a button. Returns the reply of a command that waited for that.
  public mutating func press(_ button: EV3Button, _ isDown: Bool, now: MonotonicTime) -> [EV3Message] {
    if isDown {
      pressed.insert(button.rawValue)
    } else if pressed.remove(button.rawValue) != nil {
      bumped.insert(button.rawValue)
    }
    return proceed(now)
  }

  /// The tacho count of motor 0…3, in degrees.
  public func count(ofMotor number: Int, now: MonotonicTime) -> Int { motors[number & 3].count(now) }

  // MARK: - The battery

  /// The battery's charge in percent at a time.
  func percent(_ now: MonotonicTime) -> Double {
    let elapsed = start.map { Double((now - $0).inNanoseconds) / 1e9 } ?? 0
    return max(0, min(100, configuration.percent - configuration.drain * elapsed))
  }

  /// The battery's voltage at a time, by the firmware's formula for alkaline cells: 6.2 V to 7.5 V.
  func volts(_ now: MonotonicTime) -> Float { Float(6.2 + percent(now) / 100 * 1.3) }

  // MARK: - Records

  mutating func record(_ sound: Sound) {
    if sounds.count >= Self.recordLimit { sounds.removeFirst() }
    sounds.append(sound)
  }

  mutating func record(_ drawing: EV3Instruction) {
    if drawings.count >= Self.recordLimit { drawings.removeFirst() }
    drawings.append(drawing)
  }
}
