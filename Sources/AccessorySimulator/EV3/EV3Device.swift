// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryProtocols

/// A pretended brick's inside: what it is, and how it answers. No I/O and no clock.
public struct EV3Device: Sendable {
  /// What is at a port for sensors.
  public struct Sensor: Sendable, Hashable {
    /// What it is.
    public var type: EV3DeviceType
    /// Its mode.
    public var mode: UInt8 = 0
    /// What it calls itself.
    public var name: String
    /// What its modes are called.
    public var modeNames: [String]
    /// The unit of what it measures.
    public var unit: String
    /// What it measures, up to eight values.
    public var values: [Float]
    /// What it can measure.
    public var range: ClosedRange<Float>

    /// A sensor that measures this.
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

    /// LEGO's touch sensor, which isn't pressed.
    public static let touch = Sensor(
      .touch, name: "TOUCH", modeNames: ["Touch", "Bump"], unit: "", values: [0], range: 0...1)
    /// LEGO's colour sensor, over something dark.
    public static let color = Sensor(
      .color, name: "COL-REFLECT", modeNames: ["COL-REFLECT", "COL-AMBIENT", "COL-COLOR"], unit: "pct", values: [12],
      range: 0...100)
    /// LEGO's ultrasonic sensor, half a metre from a wall.
    public static let ultrasonic = Sensor(
      .ultrasonic, name: "US-DIST-CM", modeNames: ["US-DIST-CM", "US-DIST-IN", "US-LISTEN"], unit: "cm",
      values: [50], range: 0...255)
  }

  /// What the brick is like when it is switched on.
  public struct Configuration: Sendable {
    /// The name that its user gave it.
    public var name = "EV3"
    /// Its Bluetooth address without colons, which is its serial number.
    public var serialNumber = "001653000001"
    /// Version of its firmware.
    public var firmwareVersion = "V1.09H"
    /// Version of its hardware.
    public var hardwareVersion = "V0.60"
    /// Version of its operating system.
    public var osVersion = "Linux 2.6.33-rc4"
    /// The battery's charge in percent, 0…100. The voltage follows, as that of alkaline cells. The default is 100.0.
    public var percent = 100.0
    /// Percent that the battery loses a second. The default is 0.0.
    public var drain = 0.0
    /// The current out of the battery, in amperes. The default is 0.18.
    public var amperes: Float = 0.18
    /// What it warns of.
    public var warnings: EV3Warnings = []
    /// What is at its inputs.
    public var sensors: [EV3Port: Sensor] = [.one: .touch, .three: .color, .four: .ultrasonic]
    /// Files that may be open for the host. The default is 16.
    public var handles = 16
    /// System commands that are refused, by their bytes, and what is said then.
    public var refusals: [UInt8: EV3Status] = [:]

    /// A brick with a full battery, three sensors and four motors.
    public init() {}
  }

  /// Something that was heard.
  public enum Sound: Sendable, Hashable {
    /// A tone, with its volume in percent and its frequency in hertz.
    case tone(volume: Int, frequency: Int, duration: Duration)
    /// A file.
    case file(String, volume: Int, isRepeated: Bool)
    /// Silence.
    case stop
  }

  /// What it is like.
  public var configuration: Configuration
  /// Its files.
  public var files = SimulatedFiles()
  /// What was heard, up to the last 4096.
  public internal(set) var sounds: [Sound] = []
  /// What was drawn, up to the last 4096.
  public internal(set) var drawings: [EV3Instruction] = []
  /// What the light shows.
  public internal(set) var led = EV3LED.green
  /// The program that runs.
  public internal(set) var program: String?
  /// What was written to mailboxes, up to the last 4096.
  public internal(set) var mail: [(name: String, payload: [UInt8])] = []
  /// How many direct commands were run to their end.
  public internal(set) var runs = 0
  /// How many direct commands were ended by the next one.
  public internal(set) var abortions = 0

  var motors = Array(repeating: SimulatedMotor(), count: 4)
  var motorTypes: [EV3DeviceType] = [.largeMotor, .largeMotor, .mediumMotor, .largeMotor]
  /// Where changes of sensors are counted from.
  var changes: [EV3Port: Float] = [:]
  /// Programs that were loaded.
  var images: [String] = []
  var pressed: Set<UInt8> = []
  /// Buttons that were pressed and not asked for.
  var bumped: Set<UInt8> = []
  var isBackBlocked = false
  var volume = 100
  var sleepMinutes = 30
  var soundEnd = MonotonicTime(nanoseconds: .min)
  var start: MonotonicTime?
  private var handles: SimulatedHandles
  /// Files that its host has open.
  public var openHandles: Int { handles.count }
  private var running: EV3Machine?

  static let recordLimit = 4_096

  /// A brick that has just been switched on.
  public init(_ configuration: Configuration) {
    self.configuration = configuration
    handles = SimulatedHandles(limit: configuration.handles)
  }

  /// When it will have something to say unasked: the answer to a command that waits.
  public var deadline: MonotonicTime? { running?.wakeTime }

  /// The host has gone: what it has open is closed, unless the brick keeps that.
  public mutating func hostLeft(keepsHandles: Bool) {
    running = nil
    if !keepsHandles { handles.closeAll() }
  }

  // MARK: - Messages

  /// Takes a message and returns what is answered now.
  public mutating func take(_ message: EV3Message, now: MonotonicTime) -> [EV3Message] {
    if start == nil { start = now }
    switch message.type {
    case .directCommand, .directCommandNoReply: return direct(message, now)
    case .systemCommand, .systemCommandNoReply: return system(message)
    default: return []
    }
  }

  /// Goes on with what waited for this moment.
  public mutating func timePassed(now: MonotonicTime) -> [EV3Message] { proceed(now) }

  private mutating func direct(_ message: EV3Message, _ now: MonotonicTime) -> [EV3Message] {
    // A new command from the same host ends the one that still runs, and nobody answers that.
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
      // BLUETOOTHPIN is for USB alone.
      reply = EV3SystemReply(code: code, status: code == 0x9F ? .illegalConnection : .unknownError)
    }
    return message.type.wantsReply ? [reply.message(message.number)] : []
  }

  // MARK: - What happens to it

  /// Presses a button, or lets it go. A command may have waited for that.
  public mutating func press(_ button: EV3Button, _ isDown: Bool, now: MonotonicTime) -> [EV3Message] {
    if isDown {
      pressed.insert(button.rawValue)
    } else if pressed.remove(button.rawValue) != nil {
      bumped.insert(button.rawValue)
    }
    return proceed(now)
  }

  /// The count of a motor, 0…3, in degrees.
  public func count(ofMotor number: Int, now: MonotonicTime) -> Int { motors[number & 3].count(now) }

  // MARK: - The battery

  /// Percent at a moment.
  func percent(_ now: MonotonicTime) -> Double {
    let elapsed = start.map { Double((now - $0).inNanoseconds) / 1e9 } ?? 0
    return max(0, min(100, configuration.percent - configuration.drain * elapsed))
  }

  /// By the firmware's formula for the percent of alkaline cells: 6.2 to 7.5 volts.
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
