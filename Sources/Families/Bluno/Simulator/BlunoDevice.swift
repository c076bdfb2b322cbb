// SPDX-License-Identifier: Apache-2.0

import AccessoryDiscovery
import AccessoryProtocols
import AccessorySimulator
import FamilyBluno

/// A simulated robot with a Bluno board, on a pseudo-terminal.
public typealias BlunoSimulator = SerialSimulator<BlunoDevice>

/// The state of a simulated robot, which reads single characters or lines, and of its board's radio.
public struct BlunoDevice: SerialDevice {
  /// The robot's configuration.
  public struct Configuration: Sendable, Hashable {
    /// Whether the robot reads lines. The default is `false`.
    public var readsLines = false
    /// The character that each key sends.
    public var keys = BlunoKeyMap()
    /// The radio's name.
    public var name = "Bluno"
    /// The radio's address.
    public var address = BluetoothAddress(rawValue: 0x0017_EA93_97E1)!
    /// The radio's version.
    public var version = "V1.97"
    /// Whether the radio is older than version 1.8: it doesn't answer +++, and doesn't know AT+EXIT. The default is `false`.
    public var isOld = false
    /// Whether the radio never answers. The default is `false`.
    public var isMute = false
    /// The text that the robot sends repeatedly; nil for none.
    public var says: String?
    /// The time between two such texts. The default is 1 s.
    public var interval = Duration.seconds(1)

    /// The default configuration.
    public init() {}
  }

  /// An event of the robot.
  public enum News: Sendable, Hashable {
    /// The robot received this message.
    case message(BlunoMessage)
    /// The radio entered AT mode (true) or left it (false).
    case atMode(Bool)
    /// The radio received this command.
    case command(String)
  }

  /// An action that the robot schedules, or that its owner triggers.
  public enum ScheduledAction: Sendable, Hashable {
    /// Sends the robot's text.
    case say
  }

  /// The robot's configuration.
  public let configuration: Configuration
  /// The last messages that the robot received.
  public private(set) var messages: [BlunoMessage] = []
  /// Whether the radio is in AT mode, in which the robot receives nothing.
  public private(set) var isInATMode = false
  /// The values of the radio's parameters.
  public private(set) var values: [BlunoParameter: String] = [:]
  private var decoder: BlunoDecoder
  private var line: [UInt8] = []

  /// The most messages that are kept.
  static let mostMessages = 1_000
  /// The length of the longest line, in bytes; the rest is dropped.
  static let mostBytes = 4_096

  /// A robot that was just switched on.
  public init(_ configuration: Configuration = Configuration()) {
    self.configuration = configuration
    decoder = BlunoDecoder(keys: configuration.keys)
    for parameter in BlunoParameter.allCases { values[parameter] = parameter.factoryText }
    values[.name] = configuration.name
    values[.address] = "0x" + configuration.address.digits
    values[.version] = configuration.version
    values[.setting] = "DEFAULT"
    values[.beacons] = "OFF"
  }

  /// The name of its driver.
  public static var driver: String { "bluno" }

  /// `+++` is a command only when there is a pause before and after it.
  public var pause: Duration? { .milliseconds(20) }

  /// The announcement for other programs.
  public var announcement: Announcement {
    Announcement(
      path: "", driver: Self.driver, name: configuration.name, model: "Bluno", serial: configuration.address.digits)
  }

  /// Switches the robot on, without AT mode.
  public mutating func start() -> [SerialEffect<Self>] {
    (isInATMode, line) = (false, [])
    _ = decoder.finish()
    return configuration.says == nil ? [] : [.after(configuration.interval, .say)]
  }

  /// Sends the robot's text, and schedules the next time.
  public mutating func perform(_ action: ScheduledAction) -> [SerialEffect<Self>] {
    guard let text = configuration.says else { return [] }
    let next: SerialEffect<Self> = .after(configuration.interval, .say)
    return isInATMode ? [next] : [.send(Array(text.utf8) + [UInt8(ascii: "\n")]), next]
  }

  /// Handles bytes that arrived without a pause.
  public mutating func take(_ bytes: [UInt8]) -> [SerialEffect<Self>] {
    if bytes == Array("+++".utf8), !configuration.isMute {
      isInATMode.toggle()
      line = []
      let answer: [SerialEffect<Self>] =
        isInATMode && !configuration.isOld ? [.send(BlunoReply.enteredATMode.encoded)] : []
      return answer + [.report(.atMode(isInATMode))]
    }
    if isInATMode { return takeCommands(bytes) }
    var found: [BlunoMessage] = []
    if configuration.readsLines {
      for byte in bytes {
        if byte == UInt8(ascii: "\n") {
          found.append(BlunoMessage(line: line, keys: configuration.keys))
          line = []
        } else if line.count < Self.mostBytes {
          line.append(byte)
        }
      }
    } else {
      found = decoder.decode(bytes)
    }
    messages += found
    messages.removeFirst(max(0, messages.count - Self.mostMessages))
    var effects: [SerialEffect<Self>] = found.map { .report(.message($0)) }
    // The robot answers task 0 with its status.
    if found.contains(.task(0)) { effects.append(.send(Array("Status: fine\n".utf8))) }
    return effects
  }

  // MARK: - The radio

  private mutating func takeCommands(_ bytes: [UInt8]) -> [SerialEffect<Self>] {
    var effects: [SerialEffect<Self>] = []
    for byte in bytes {
      guard byte == UInt8(ascii: "\n") else {
        if line.count < Self.mostBytes { line.append(byte) }
        continue
      }
      let text = String(decoding: line.last == 0x0D ? line.dropLast() : line[...], as: UTF8.self)
      let command = try? BlunoCommand(decoding: line)
      line = []
      effects.append(.report(.command(text)))
      effects += answer(command).map { .send($0.encoded) }
      if command == .exit, !configuration.isOld {
        isInATMode = false
        effects.append(.report(.atMode(false)))
      }
    }
    return effects
  }

  private mutating func answer(_ command: BlunoCommand?) -> [BlunoReply] {
    switch command {
    case .attention: return [.ok]
    case .exit: return configuration.isOld ? [.value("ERROR CMD")] : [.ok]
    case .restart:
      isInATMode = false
      return [.ok]
    case .ask(let parameter): return [.value(values[parameter] ?? "")]
    case .set(let parameter, let value):
      values[parameter] = Self.text(parameter, value)
      if parameter == .setting { values[.name] = configuration.name } else { values[.setting] = "UNKNOWN" }
      return [.ok]
    case .other, .toggle, nil: return [.value("ERROR CMD")]
    }
  }

  /// The value in the radio's notation.
  private static func text(_ parameter: BlunoParameter, _ value: String) -> String {
    switch parameter {
    case .speed: return value + ",8,N,1"
    case .power:
      let isNegative = value.hasPrefix("-")
      let digits = isNegative ? String(value.dropFirst()) : value
      return (isNegative ? "-" : "0") + (digits.utf8.count < 2 ? "0" : "") + digits
    case .major, .minor: return String(repeating: "0", count: max(0, 5 - value.utf8.count)) + value
    default: return value
    }
  }
}
