// SPDX-License-Identifier: Apache-2.0

import AccessoryDiscovery
import AccessoryProtocols

/// A pretended HM-10 with devices around it, which echo what they are sent.
public typealias HM10Simulator = SerialSimulator<HM10Surroundings>

/// A pretended HM-10 and the air around it, in time.
public struct HM10Surroundings: SerialDevice {
  /// What it is like.
  public struct Configuration: Sendable, Hashable {
    /// The module.
    public var module = HM10Device.Configuration()
    /// How many devices are around it. The default is 3.
    public var neighbours = 3
    /// How long a scan takes; nil for as long as the module's setting says.
    public var scanTime: Duration?
    /// How long it takes to connect. The default is 100 ms.
    public var connectTime = Duration.milliseconds(100)
    /// How long it takes to fail. A real module takes 10 s. The default is 300 ms.
    public var failTime = Duration.milliseconds(300)
    /// After how long a connection is lost; nil for never.
    public var loseAfter: Duration?
    /// For how long nobody can be connected to when a connection was lost; `zero` for no time.
    public var away = Duration.zero
    /// Whether the devices echo what they are sent. The default is `true`.
    public var echoes = true
    /// How long it hears nothing when it starts anew. The default is 300 ms.
    public var restartTime = Duration.milliseconds(300)
    /// Repeats everything that is random. The default is 1.
    public var seed: UInt64 = 1

    /// A module from the factory, among three devices.
    public init() {}
  }

  /// What it tells of itself.
  public enum News: Sendable, Hashable {
    /// It was sent this command.
    case command(String)
    /// It is connected.
    case connected(BluetoothAddress)
    /// It isn't any more.
    case lost
    /// The other side got this.
    case passed([UInt8])
    /// It starts anew.
    case restarted
  }

  /// What it does later, or on demand.
  public enum Moment: Sendable, Hashable {
    /// Tells the next device of a scan.
    case found(Int, HM10Reply.Discovery.Kind, step: Duration)
    /// Connects, or fails to.
    case connected(BluetoothAddress?)
    /// Loses the connection.
    case lose
    /// The devices are there again.
    case back
    /// Listens again.
    case awake
    /// The other side sends something.
    case say([UInt8])
  }

  /// What it is like.
  public let configuration: Configuration
  /// The module.
  public private(set) var module: HM10Device
  /// The devices.
  public private(set) var neighbours: HM10Neighbours
  /// All that the other sides of connections got.
  public private(set) var passed: [UInt8] = []
  /// How often it tried to connect.
  public private(set) var attempts = 0
  private var isAway = false
  private var isDeaf = false
  private var isScanning = false

  /// What a connection carries at once.
  static let chunk = 20

  /// A module that has just been switched on.
  public init(_ configuration: Configuration = Configuration()) {
    self.configuration = configuration
    module = HM10Device(configuration.module)
    neighbours = HM10Neighbours(count: configuration.neighbours, seed: configuration.seed)
  }

  /// The driver that speaks with it.
  public static var driver: String { "hm10" }

  /// A genuine module takes what arrives without a pause for one command; a clone reads lines, which come in one piece.
  public var pause: Duration? { .milliseconds(20) }

  /// By what it is known.
  public var announcement: Announcement {
    Announcement(
      path: "", driver: Self.driver, name: module.name, model: "HM-10", serial: configuration.module.address.digits)
  }

  /// Switched on, it is not connected.
  public mutating func start() -> [SerialEffect<Self>] {
    module.restarted()
    (isAway, isDeaf, isScanning) = (false, false, false)
    return []
  }

  /// Takes a command, or data for the other side.
  public mutating func take(_ bytes: [UInt8]) -> [SerialEffect<Self>] {
    // Amid a scan it takes no commands.
    if isDeaf || isScanning { return [] }
    var effects: [SerialEffect<Self>] = []
    if module.peer == nil { effects.append(.tell(.command(String(decoding: bytes, as: UTF8.self)))) }
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
        effects.append(.tell(.passed(bytes)))
        if configuration.echoes { effects += say(bytes) }
      case .restart:
        isDeaf = true
        effects += [.forget, .tell(.restarted), .after(configuration.restartTime, .awake)]
      }
    }
    return effects
  }

  /// What the other side sends comes in pieces of 20 bytes.
  private func say(_ bytes: [UInt8]) -> [SerialEffect<Self>] {
    stride(from: 0, to: bytes.count, by: Self.chunk).enumerated().map { number, start in
      let piece = Array(bytes[start..<min(start + Self.chunk, bytes.count)])
      return number == 0 ? .send(piece) : .after(.milliseconds(8 * number), .say(piece))
    }
  }

  /// What follows from the end of a connection.
  private mutating func lost() -> [SerialEffect<Self>] {
    guard configuration.away > .zero else { return [.forget, .tell(.lost)] }
    isAway = true
    return [.forget, .tell(.lost), .after(configuration.away, .back)]
  }

  /// From now on so many attempts to connect fail.
  public mutating func refuse(_ count: Int) { module.configuration.refusals = count }

  /// What happens in time.
  public mutating func happen(_ moment: Moment) -> [SerialEffect<Self>] {
    switch moment {
    case .found(let index, let kind, let step):
      guard neighbours.all.indices.contains(index) else {
        isScanning = false
        return [.send(module.bytes(of: .discovery(.ended)))]
      }
      let bytes = module.replies(to: neighbours.all[index], kind).flatMap { module.bytes(of: $0) }
      return [.send(bytes), .after(step, .found(index + 1, kind, step: step))]
    case .connected(let address):
      // Nobody can be connected to who went meanwhile.
      var effects = carryOut(module.connect(to: address, isReachable: !isAway))
      if let peer = module.peer {
        effects.append(.tell(.connected(peer)))
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
