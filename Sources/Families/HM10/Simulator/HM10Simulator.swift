// SPDX-License-Identifier: Apache-2.0

import AccessoryDiscovery
import AccessoryProtocols
import AccessorySimulator
import FamilyHM10

/// A simulated HM-10 with devices around it, which echo the data that they receive.
public typealias HM10Simulator = SerialSimulator<HM10Surroundings>

/// The state of a simulated HM-10 and of the devices around it, with their timing.
public struct HM10Surroundings: SerialDevice {
  /// The configuration of the module and its surroundings.
  public struct Configuration: Sendable, Hashable {
    /// The module.
    public var module = HM10Device.Configuration()
    /// The number of devices around it. The default is 3.
    public var neighbours = 3
    /// The duration of a scan; nil means as long as the module's setting says.
    public var scanTime: Duration?
    /// How long connecting takes. The default is 100 ms.
    public var connectTime = Duration.milliseconds(100)
    /// How long a failing attempt to connect takes. The default is 300 ms; a real module takes 10 s.
    public var failTime = Duration.milliseconds(300)
    /// The time after which a connection is lost; nil means never.
    public var loseAfter: Duration?
    /// How long no device can be connected after a connection was lost. The default is zero.
    public var away = Duration.zero
    /// Whether the devices echo the data that they receive. The default is `true`.
    public var echoes = true
    /// How long the module receives nothing during a restart. The default is 300 ms.
    public var restartTime = Duration.milliseconds(300)
    /// The seed of all random numbers, so that a run can be repeated. The default is 1.
    public var seed: UInt64 = 1

    /// A module with factory settings, and three devices.
    public init() {}
  }

  /// An event of the module.
  public enum News: Sendable, Hashable {
    /// The module received this command.
    case command(String)
    /// The module was connected to this device.
    case connected(BluetoothAddress)
    /// The connection was lost or ended.
    case lost
    /// The connected device received this data.
    case passed([UInt8])
    /// The module restarts.
    case restarted
  }

  /// An action that is scheduled, or that the simulator's owner triggers.
  public enum ScheduledAction: Sendable, Hashable {
    /// Reports the next device of a scan, by index.
    case found(Int, HM10Reply.Discovery.Kind, step: Duration)
    /// Completes an attempt to connect.
    case connected(BluetoothAddress?)
    /// Loses the connection.
    case lose
    /// Makes the devices reachable again.
    case back
    /// Completes a restart.
    case awake
    /// The connected device sends this data.
    case say([UInt8])
  }

  /// The configuration.
  public let configuration: Configuration
  /// The module's state.
  public private(set) var module: HM10Device
  /// The devices around the module.
  public private(set) var neighbours: HM10Neighbours
  /// The last 65,536 bytes that connected devices have received.
  public private(set) var passed: [UInt8] = []
  /// The number of attempts to connect.
  public private(set) var attempts = 0
  private var isAway = false
  private var isDeaf = false
  private var isScanning = false

  /// The most bytes that a connection carries at once.
  static let chunk = 20

  /// A module that was just switched on.
  public init(_ configuration: Configuration = Configuration()) {
    self.configuration = configuration
    module = HM10Device(configuration.module)
    neighbours = HM10Neighbours(count: configuration.neighbours, seed: configuration.seed)
  }

  /// The name of its driver.
  public static var driver: String { "hm10" }

  /// A genuine module takes bytes without a pause between them for one command. A clone reads lines, which arrive without a pause.
  public var pause: Duration? { .milliseconds(20) }

  /// The announcement for other programs.
  public var announcement: Announcement {
    Announcement(
      path: "", driver: Self.driver, name: module.name, model: "HM-10", serial: configuration.module.address.digits)
  }

  /// Switches the module on, without a connection.
  public mutating func start() -> [SerialEffect<Self>] {
    module.restarted()
    (isAway, isDeaf, isScanning) = (false, false, false)
    return []
  }

  /// Handles a command, or data for the connected device.
  public mutating func take(_ bytes: [UInt8]) -> [SerialEffect<Self>] {
    // During a scan the module accepts no commands.
    if isDeaf || isScanning { return [] }
    var effects: [SerialEffect<Self>] = []
    if module.peer == nil { effects.append(.report(.command(String(decoding: bytes, as: UTF8.self)))) }
    let wasConnected = module.peer != nil
    let answer = module.take(bytes)
    if wasConnected, module.peer == nil { effects += lost() }
    return effects + carryOut(answer)
  }

  private mutating func carryOut(_ answer: [HM10Device.Effect]) -> [SerialEffect<Self>] {
    var effects: [SerialEffect<Self>] = []
    for effect in answer {
      switch effect {
      case .send(let reply): effects.append(.send(module.bytes(of: reply)))
      case .scan(let kind, let seconds):
        neighbours.change()
        isScanning = true
        module.found = neighbours.all.prefix(6).map(\.address)
        let time = configuration.scanTime ?? .seconds(seconds)
        let step = time / (neighbours.all.count + 1)
        effects.append(.after(step, .found(0, kind, step: step)))
      case .connect(let address):
        attempts += 1
        let isReachable = !isAway && neighbours.all.contains { $0.address == address }
        let fails = module.configuration.refusals > 0 || !isReachable
        effects.append(
          .after(fails ? configuration.failTime : configuration.connectTime, .connected(isReachable ? address : nil)))
      case .pass(let bytes):
        passed += bytes.suffix(65_536)
        passed.removeFirst(max(0, passed.count - 65_536))
        effects.append(.report(.passed(bytes)))
        if configuration.echoes { effects += say(bytes) }
      case .restart:
        isDeaf = true
        effects += [.cancelAll, .report(.restarted), .after(configuration.restartTime, .awake)]
      }
    }
    return effects
  }

  /// Sends data of the connected device in pieces of 20 bytes.
  private func say(_ bytes: [UInt8]) -> [SerialEffect<Self>] {
    stride(from: 0, to: bytes.count, by: Self.chunk).enumerated().map { number, start in
      let piece = Array(bytes[start..<min(start + Self.chunk, bytes.count)])
      return number == 0 ? .send(piece) : .after(.milliseconds(8 * number), .say(piece))
    }
  }

  /// The effects of the end of a connection.
  private mutating func lost() -> [SerialEffect<Self>] {
    guard configuration.away > .zero else { return [.cancelAll, .report(.lost)] }
    isAway = true
    return [.cancelAll, .report(.lost), .after(configuration.away, .back)]
  }

  /// Makes this many of the next attempts to connect fail.
  public mutating func refuse(_ count: Int) { module.configuration.refusals = count }

  /// Carries out a scheduled action.
  public mutating func perform(_ action: ScheduledAction) -> [SerialEffect<Self>] {
    switch action {
    case .found(let index, let kind, let step):
      guard neighbours.all.indices.contains(index) else {
        isScanning = false
        return [.send(module.bytes(of: .discovery(.ended)))]
      }
      let bytes = module.replies(to: neighbours.all[index], kind).flatMap { module.bytes(of: $0) }
      return [.send(bytes), .after(step, .found(index + 1, kind, step: step))]
    case .connected(let address):
      // The devices may have become unreachable meanwhile.
      var effects = carryOut(module.connect(to: address, isReachable: !isAway))
      if let peer = module.peer {
        effects.append(.report(.connected(peer)))
        if let time = configuration.loseAfter { effects.append(.after(time, .lose)) }
      }
      return effects
    case .lose:
      guard module.peer != nil else { return [] }
      return carryOut(module.lose()) + lost()
    case .back:
      isAway = false
      return []
    case .awake:
      isDeaf = false
      module.restarted()
      return []
    case .say(let bytes):
      guard module.peer != nil else { return [] }
      return [.send(bytes.count <= Self.chunk ? bytes : Array(bytes.prefix(Self.chunk)))]
        + (bytes.count <= Self.chunk ? [] : [.after(.milliseconds(8), .say(Array(bytes.dropFirst(Self.chunk))))])
    }
  }
}
