// SPDX-License-Identifier: Apache-2.0

import AccessoryDiscovery
import AccessoryProtocols

/// A pretended robot with a Bluno board, on a pseudo-terminal.
public typealias BlunoSimulator = SerialSimulator<BlunoDevice>

/// A pretended robot, which takes what it is sent character by character, or line by line, and its board's radio.
public struct BlunoDevice: SerialDevice {
  /// What it is like.
  public struct Configuration: Sendable, Hashable {
    /// Whether it reads lines. The default is `false`.
    public var readsLines = false
    /// Which character each key sends.
    public var keys = BlunoKeyMap()
    /// Its radio's name.
    public var name = "Bluno"
    /// Its radio's address.
    public var address = BluetoothAddress(rawValue: 0x0017_EA93_97E1)!
    /// Its radio's version.
    public var version = "V1.97"
    /// Whether its radio is older than 1.8: it says nothing to +++ and knows no AT+EXIT. The default is `false`.
    public var isOld = false
    /// Whether it has no radio that answers at all. The default is `false`.
    public var isMute = false
    /// What it says by itself, and how often; nil for nothing.
    public var says: String?
    /// The time between two of these. The default is 1 s.
    public var interval = Duration.seconds(1)

    /// A robot as it comes.
    public init() {}
  }

  /// What it tells of itself.
  public enum News: Sendable, Hashable {
    /// It was told this.
    case message(BlunoMessage)
    /// It entered AT mode, or left it.
    case atMode(Bool)
    /// Its radio was told this.
    case command(String)
  }

  /// What it does later, or on demand.
  public enum Moment: Sendable, Hashable {
    /// Says what it says by itself.
    case say
  }

  /// What it is like.
  public let configuration: Configuration
  /// The last of what it was told.
  public private(set) var messages: [BlunoMessage] = []
  /// Whether the radio listens, and not the robot.
  public private(set) var isInATMode = false
  /// What the radio's parameters are.
  public private(set) var values: [BlunoParameter: String] = [:]
  private var decoder: BlunoDecoder
  private var line: [UInt8] = []

  /// Messages that are kept.
  static let mostMessages = 1_000
  /// Bytes of a line.
  static let mostBytes = 4_096

  /// A robot that has just been switched on.
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

  /// The driver that speaks with it.
  public static var driver: String { "bluno" }

  /// `+++` is a command when nothing is in front of it or behind it.
  public var pause: Duration? { .milliseconds(20) }

  /// By what it is known.
  public var announcement: Announcement {
    Announcement(
      path: "", driver: Self.driver, name: configuration.name, model: "Bluno", serial: configuration.address.digits)
  }

  /// Switched on, it is in no mode.
  public mutating func start() -> [SerialEffect<Self>] {
    (isInATMode, line) = (false, [])
    _ = decoder.finish()
    return configuration.says == nil ? [] : [.after(configuration.interval, .say)]
  }

  /// Says something, again and again.
  public mutating func happen(_ moment: Moment) -> [SerialEffect<Self>] {
    guard let text = configuration.says else { return [] }
    let next: SerialEffect<Self> = .after(configuration.interval, .say)
    return isInATMode ? [next] : [.send(Array(text.utf8) + [UInt8(ascii: "\n")]), next]
  }

  /// Takes what arrives in one piece.
  public mutating func take(_ bytes: [UInt8]) -> [SerialEffect<Self>] {
    if bytes == Array("+++".utf8), !configuration.isMute {
      isInATMode.toggle()
      line = []
      let answer: [SerialEffect<Self>] =
        isInATMode && !configuration.isOld ? [.send(BlunoReply.enteredATMode.encoded)] : []
      return answer + [.tell(.atMode(isInATMode))]
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
    var effects: [SerialEffect<Self>] = found.map { .tell(.message($0)) }
    // Task 0 asks how it is.
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
      effects.append(.tell(.command(text)))
      effects += answer(command).map { .send($0.encoded) }
      if command == .exit, !configuration.isOld {
        isInATMode = false
        effects.append(.tell(.atMode(false)))
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

  /// A value as the radio writes it.
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
