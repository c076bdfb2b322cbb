// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols
import AccessorySimulator
import FamilyHM10

/// The state of a simulated HM-10: its settings, its replies, and its connection. Has no clock: actions that take time
/// are returned as effects.
public struct HM10Device: Sendable {
  /// The module's configuration.
  public struct Configuration: Sendable, Hashable {
    /// The dialect. A clone expects CR LF, and knows fewer commands. The default is `genuine`.
    public var dialect = HM10Dialect.genuine
    /// Whether the reply with the battery has the newer form, `OK+Get:`. The default is `false`.
    public var newBatteryForm = false
    /// The battery's charge in percent, 0…100.
    public var percent = 100
    /// The name.
    public var name = "HMSoft"
    /// The address.
    public var address = BluetoothAddress(rawValue: 0x0017_EA09_0909)!
    /// The version.
    public var version = "HMSoft V540"
    /// Which of the two commands for the version the module knows. The default is both.
    public var versionForms = HM10Command.VersionForm.allCases
    /// Whether the module is a central that waits for commands, as after a user has configured it. The default is `false`.
    public var isCentral = false
    /// The highest value of the setting SHOW that the module accepts: 1 in V539. The default is 3.
    public var mostShown = 3
    /// How many of the next attempts to connect fail. The default is 0.
    public var refusals = 0

    /// A module with factory settings.
    public init() {}
  }

  /// An action of the module.
  public enum Effect: Sendable, Hashable {
    /// Sends this reply.
    case send(HM10Reply)
    /// Scans for this kind of devices, for this time.
    case scan(HM10Reply.Discovery.Kind, seconds: Int)
    /// Tries to connect to this device; nil stands for an unknown one.
    case connect(BluetoothAddress?)
    /// Passes data on to the connected device.
    case pass([UInt8])
    /// Restarts. During the restart the module receives nothing.
    case restart
  }

  /// The module's configuration.
  public var configuration: Configuration
  /// The settings in effect.
  public private(set) var settings: [HM10Setting: Int]
  /// Settings that take effect at the next start.
  private var pending: [HM10Setting: Int] = [:]
  /// The current name.
  public private(set) var name: String
  /// The connected device; nil without a connection.
  public private(set) var peer: BluetoothAddress?
  /// The device that was connected last.
  public private(set) var lastPeer: BluetoothAddress?
  /// The devices that the last scan found, in order.
  public var found: [BluetoothAddress] = []

  /// A module that was just switched on.
  public init(_ configuration: Configuration = Configuration()) {
    self.configuration = configuration
    name = configuration.name
    settings = Self.factorySettings
    if configuration.isCentral {
      settings[.role] = HM10Role.central.rawValue
      settings[.immediate] = 1
    }
  }

  private static var factorySettings: [HM10Setting: Int] {
    var settings: [HM10Setting: Int] = [:]
    for setting in HM10Setting.allCases { settings[setting] = setting.factoryValue ?? 0 }
    settings[.power] = HM10Power.zero.rawValue
    settings[.connectTime] = 1_000
    return settings
  }

  /// Whether the module can scan and connect.
  public var isCentral: Bool { settings[.role] == HM10Role.central.rawValue && settings[.immediate] == 1 }
  /// Whether the module reports connections.
  public var notifies: Bool { settings[.notify] == 1 }

  // MARK: - Commands and data

  /// Handles bytes that arrived without a pause: a command, or data while the module is connected.
  public mutating func take(_ bytes: [UInt8]) -> [Effect] {
    if peer != nil {
      guard (try? HM10Command(decoding: bytes)) == .attention, bytes.count <= 4 else { return [.pass(bytes)] }
      return lose()
    }
    if configuration.dialect == .clone {
      guard bytes.suffix(2) == [0x0D, 0x0A] else { return [] }
    } else if bytes.last == 0x0A {
      return []
    }
    guard let command = try? HM10Command(decoding: bytes) else { return unknown }
    return answer(command)
  }

  /// The answer to an unknown command. A genuine module sends none.
  private var unknown: [Effect] {
    configuration.dialect == .clone ? [.send(.text(Array("ERROR=102".utf8)))] : []
  }

  private mutating func answer(_ command: HM10Command) -> [Effect] {
    switch command {
    case .attention: return [.send(.ok)]
    case .address: return [.send(value("LADDR", configuration.address.description, .address(configuration.address)))]
    case .name: return [.send(value("NAME", name, .name(name)))]
    case .setName(let name):
      self.name = name
      return [.send(configuration.dialect == .clone ? .ok : .set(name))]
    case .version(let form) where configuration.versionForms.contains(form):
      return [.send(value("VERSION", configuration.version, .text(Array(configuration.version.utf8))))]
    case .ask(let setting) where knows(setting):
      return [.send(value(setting.rawValue, text(setting), .get(text(setting))))]
    case .set(let setting, let number) where knows(setting): return set(setting, number)
    case .reset: return [.send(acknowledge(.reset)), .restart]
    case .renew:
      settings = Self.factorySettings
      (pending, name, lastPeer) = ([:], "HMSoft", nil)
      return [.send(acknowledge(.renew)), .restart]
    case .discover where isCentral:
      return [.send(.discovery(.began(.devices))), .scan(.devices, seconds: settings[.scanTime] ?? 3)]
    default: return configuration.dialect == .clone ? unknown : answerAsGenuine(command)
    }
  }

  private mutating func answerAsGenuine(_ command: HM10Command) -> [Effect] {
    switch command {
    case .battery:
      let digits = String(1_000 + configuration.percent).dropFirst()
      return [.send(configuration.newBatteryForm ? .get(String(digits)) : .battery(configuration.percent))]
    case .lastAddress: return [.send(.lastAddress(lastPeer ?? BluetoothAddress(rawValue: 0)!))]
    case .clear:
      lastPeer = nil
      return [.send(.acknowledged(.clear))]
    case .start: return [.send(.acknowledged(.start))]
    case .sleep: return [.send(.acknowledged(.sleep))]
    case .help: return [.send(.text(Array("HMSoft: AT AT+ADDR? AT+NAME? AT+BATT? …".utf8)))]
    case .discoverBeacons where isCentral:
      return [.send(.discovery(.began(.beacons))), .scan(.beacons, seconds: settings[.scanTime] ?? 3)]
    case .discoverAdvertisements where isCentral:
      return [.send(.discovery(.began(.advertisements))), .scan(.advertisements, seconds: settings[.scanTime] ?? 3)]
    case .connect(let address, _) where isCentral: return [.send(.connection(.accepted)), .connect(address)]
    case .connectIndex(let index) where isCentral:
      guard found.indices.contains(index) else { return [.send(.connection(.error))] }
      defer { found = [] }
      return [.send(.connection(.tryingIndex(index))), .connect(found[index])]
    case .connectLast where isCentral:
      guard let lastPeer else { return [.send(.connection(.noAddress))] }
      return [.send(.connection(.tryingLast)), .connect(lastPeer)]
    case .connect, .connectIndex, .connectLast: return [.send(.connection(.error))]
    default: return []
    }
  }

  private func knows(_ setting: HM10Setting) -> Bool {
    configuration.dialect == .genuine || [.role, .speed, .type, .pin, .power].contains(setting)
  }

  private func value(_ name: String, _ text: String, _ genuine: HM10Reply) -> HM10Reply {
    configuration.dialect == .clone ? .clone(name: name, text: text) : genuine
  }

  private func acknowledge(_ what: HM10Reply.Acknowledgement) -> HM10Reply {
    configuration.dialect == .clone ? .ok : .acknowledged(what)
  }

  // MARK: - Settings

  private mutating func set(_ setting: HM10Setting, _ number: Int) -> [Effect] {
    // Each version accepts only the values that it knows.
    if setting == .show, number > configuration.mostShown { return [] }
    if [.role, .immediate, .speed].contains(setting) {
      pending[setting] = number
    } else {
      settings[setting] = number
    }
    return [.send(configuration.dialect == .clone ? .ok : .set(text(setting, number)))]
  }

  /// The text of a setting's value in a reply.
  private func text(_ setting: HM10Setting, _ number: Int? = nil) -> String {
    let number = number ?? pending[setting] ?? settings[setting] ?? 0
    let command = (try? HM10Command.set(setting, number).encoded()) ?? []
    let word = setting == .pin ? "PIN" : setting.rawValue
    return String(decoding: command.dropFirst(3 + word.utf8.count), as: UTF8.self)
  }

  /// Completes a restart.
  public mutating func restarted() {
    settings.merge(pending) { $1 }
    pending = [:]
    (peer, found) = (nil, [])
  }

  // MARK: - Connections

  /// Completes an attempt to connect.
  public mutating func connect(to address: BluetoothAddress?, isReachable: Bool) -> [Effect] {
    if configuration.refusals > 0 {
      configuration.refusals -= 1
      return [.send(.connection(.failed))]
    }
    guard let address, isReachable else { return [.send(.connection(.failed))] }
    (peer, lastPeer) = (address, address)
    guard notifies else { return [] }
    return [.send(.connection(.made(settings[.notifyAddress] == 1 ? address : nil)))]
  }

  /// Ends the connection.
  public mutating func lose() -> [Effect] {
    guard peer != nil else { return [] }
    peer = nil
    return notifies ? [.send(.lost)] : []
  }

  /// The replies that report a device which a scan has found.
  public func replies(to neighbour: HM10Neighbour, _ kind: HM10Reply.Discovery.Kind) -> [HM10Reply] {
    switch kind {
    case .devices:
      var replies: [HM10Reply] = [.discovery(.found(neighbour.address, type: neighbour.addressType))]
      let shown = settings[.show] ?? 0
      if shown >= 2 { replies.append(.signalStrength(neighbour.signalStrength ?? 0)) }
      if shown % 2 == 1, let name = neighbour.name { replies.append(.name(name)) }
      return replies
    case .beacons:
      let beacon = HM10Beacon(
        uuid: Array(0..<16), major: 1, minor: 2, power: -59, address: neighbour.address,
        signalStrength: neighbour.signalStrength ?? 0)
      return beacon.map { [.discovery(.beacon($0))] } ?? []
    case .advertisements:
      let name = Array((neighbour.name ?? "").utf8.prefix(26))
      let advertisement = HM10Advertisement(
        address: neighbour.address, type: 0, signalStrength: Int8(clamping: neighbour.signalStrength ?? 0),
        data: [2, 1, 6, UInt8(name.count + 1), 9] + name)
      return advertisement.map { [.discovery(.advertisement($0))] } ?? []
    }
  }

  /// The bytes of a reply, with the line end of this dialect.
  public func bytes(of reply: HM10Reply) -> [UInt8] {
    let bytes = reply.encoded
    return configuration.dialect == .clone && bytes.suffix(2) != [0x0D, 0x0A] ? bytes + [0x0D, 0x0A] : bytes
  }
}
