// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols

/// A pretended HM-10 as a value: its settings, what it answers, and whom it is connected to. It has no clock: what takes
/// time is told as an effect.
public struct HM10Device: Sendable {
  /// What it is like.
  public struct Configuration: Sendable, Hashable {
    /// A clone wants CR LF, and knows less. The default is `genuine`.
    public var dialect = HM10Dialect.genuine
    /// Whether it tells its battery in the newer form, `OK+Get:`. The default is `false`.
    public var newBatteryForm = false
    /// Its battery in percent, 0…100.
    public var percent = 100
    /// Its name.
    public var name = "HMSoft"
    /// Its address.
    public var address = BluetoothAddress(rawValue: 0x0017_EA09_0909)!
    /// Its version.
    public var version = "HMSoft V540"
    /// Which of the two commands for its version it knows. The default is `allCases`.
    public var versionForms = HM10Command.VersionForm.allCases
    /// Whether it is a central that waits for commands, as a user would have made it. The default is `false`.
    public var isCentral = false
    /// The highest value of SHOW that it knows: 1 in V539. The default is 3.
    public var mostShown = 3
    /// How many attempts to connect it fails, of those to come. The default is 0.
    public var refusals = 0

    /// A module from the factory.
    public init() {}
  }

  /// What it does besides answering at once.
  public enum Effect: Sendable, Hashable {
    /// It sends this.
    case send(HM10Reply)
    /// It scans for so long, for this.
    case scan(HM10Reply.Discovery.Kind, seconds: Int)
    /// It tries to connect; nil is somebody whom it doesn't know.
    case connect(BluetoothAddress?)
    /// It passes this on to the other side.
    case pass([UInt8])
    /// It starts anew, and hears nothing meanwhile.
    case restart
  }

  /// What it is like.
  public var configuration: Configuration
  /// What is set, and holds.
  public private(set) var settings: [HM10Setting: Int]
  /// What was set and holds from the next start on.
  private var pending: [HM10Setting: Int] = [:]
  /// Its name now.
  public private(set) var name: String
  /// Whom it is connected to.
  public private(set) var peer: BluetoothAddress?
  /// Whom it was connected to last.
  public private(set) var lastPeer: BluetoothAddress?
  /// Those that its last scan found, in this order.
  public var found: [BluetoothAddress] = []

  /// A module that has just been switched on.
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

  /// Whether it scans and connects.
  public var isCentral: Bool { settings[.role] == HM10Role.central.rawValue && settings[.immediate] == 1 }
  /// Whether it tells of connections.
  public var notifies: Bool { settings[.notify] == 1 }

  // MARK: - What arrives

  /// Takes one piece of what arrives: a command, or data while it is connected.
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

  /// A genuine module says nothing to what it doesn't know.
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
    // It knows the words of its own version only.
    if setting == .show, number > configuration.mostShown { return [] }
    if [.role, .immediate, .speed].contains(setting) {
      pending[setting] = number
    } else {
      settings[setting] = number
    }
    return [.send(configuration.dialect == .clone ? .ok : .set(text(setting, number)))]
  }

  /// A value as it is written.
  private func text(_ setting: HM10Setting, _ number: Int? = nil) -> String {
    let number = number ?? pending[setting] ?? settings[setting] ?? 0
    let command = (try? HM10Command.set(setting, number).encoded()) ?? []
    let word = setting == .pin ? "PIN" : setting.rawValue
    return String(decoding: command.dropFirst(3 + word.utf8.count), as: UTF8.self)
  }

  /// It has started anew.
  public mutating func restarted() {
    settings.merge(pending) { $1 }
    pending = [:]
    (peer, found) = (nil, [])
  }

  // MARK: - Connections

  /// What becomes of an attempt to connect.
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

  /// The connection is no more.
  public mutating func lose() -> [Effect] {
    guard peer != nil else { return [] }
    peer = nil
    return notifies ? [.send(.lost)] : []
  }

  /// What it tells of a device that a scan finds.
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

  /// The bytes of a reply, as this module ends them.
  public func bytes(of reply: HM10Reply) -> [UInt8] {
    let bytes = reply.encoded
    return configuration.dialect == .clone && bytes.suffix(2) != [0x0D, 0x0A] ? bytes + [0x0D, 0x0A] : bytes
  }
}
