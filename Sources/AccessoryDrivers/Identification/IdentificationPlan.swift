// SPDX-License-Identifier: Apache-2.0

import AccessoryBluetooth
import AccessoryCore
import AccessoryDescriptions
import AccessoryDiscovery
import AccessoryIO
import AccessoryProtocols

/// The steps that find out which accessory is at a port: first the line is only listened to, then requests are sent, in
/// the order of how little they disturb.
public struct IdentificationPlan: Sendable {
  /// The kind of connection to the accessory.
  public enum PortKind: Sendable, Hashable {
    /// A serial line, whose baud rate can be set, here or by the network.
    case line
    /// A connection that carries a serial line's bytes, whose baud rate can't be set here. Its other end is on the
    /// network (`isNetwork`) or on this machine.
    case connection(isNetwork: Bool)
    /// A connection to a Modbus TCP port.
    case modbusTCP
    /// A Bluetooth Low Energy device, whose bytes pass by characteristics. Only kinds that have them are asked.
    case air

    /// The port kind of an address; nil for all others, as USB endpoints, which say themselves what they are, and text in HID reports,
    /// which devices of many kinds have: nothing is sent to them unless somebody says what they are.
    public init?(_ address: DeviceAddress) {
      switch address {
      case .terminal, .rfc2217, .esphome: self = .line
      case .ble: self = .air
      case .tcp(let place) where place.port == 502: self = .modbusTCP
      case .tcp, .unix, .rfcomm: self = .connection(isNetwork: address.transport.isNetwork)
      default: return nil
      }
    }
  }

  /// The steps, in order.
  public private(set) var steps: [IdentificationStep] = []
  /// Kinds that aren't tried, with the reasons.
  public private(set) var untried: [IdentificationFind.Fact] = []

  private let drivers: [Driver]
  /// The described protocols by name. They are kept here so that built-in ones are parsed only once.
  private let protocols: [String: DescribedProtocol]
  private let port: PortKind
  private let timeout: Duration?
  private let onlyOnAir: Set<String>

  /// Whether the steps are for a Bluetooth Low Energy device.
  public var isOnAir: Bool { port == .air }

  /// The steps that have the same characteristics, and so one opening, in order.
  var parts: [(gatt: GATTSettings?, steps: Range<Int>)] {
    var parts: [(gatt: GATTSettings?, steps: Range<Int>)] = []
    for (index, step) in steps.enumerated() {
      if let last = parts.last, last.gatt == step.gatt {
        parts[parts.count - 1].steps = last.steps.lowerBound..<index + 1
      } else {
        parts.append((step.gatt, index..<index + 1))
      }
    }
    return parts
  }

  /// How long the plan listens at each baud rate. Kinds that send by themselves do so every second.
  public static let listening = Duration.milliseconds(1_500)

  /// A plan for all kinds of a library for which `isWanted` is true. `timeout` replaces each kind's timeout, and is
  /// the shortest time to listen.
  public init(
    _ drivers: DriverLibrary, port: PortKind, timeout: Duration? = nil, isWanted: (String) -> Bool = { _ in true }
  ) {
    (self.drivers, self.port, self.timeout) = (drivers.drivers, port, timeout)
    let all = drivers.protocols.names.compactMap { drivers.protocols.described($0) }
    // No cable is sent the requests of those that are only on the air, and no device on the air those of others.
    let described = all.filter { port == .air ? $0.canBeAskedOnAir : !$0.isOnlyOnAir }
    onlyOnAir = Set(all.filter(\.isOnlyOnAir).map(\.name))
    protocols = Dictionary(described.map { ($0.name, $0) }) { $1 }
    // Sorted by rate and name, so that kinds without an entry in the order always have the same position.
    let rest = described.sorted { ($0.rate, $0.name) < ($1.rate, $1.name) }
    if port == .air { planOnAir(rest, isWanted) } else { planOnLine(rest, isWanted) }
    let tried = Set(steps.flatMap(\.kinds))
    // A driver that wants no bytes has nothing to try on them.
    let kinds = self.drivers.filter { $0.channel == .bytes }.map(\.name) + drivers.protocols.names
    untried = kinds.filter { isWanted($0) && !tried.contains($0) }
      .map { .init($0, reason($0)) }
  }

  private mutating func planOnLine(_ rest: [DescribedProtocol], _ isWanted: (String) -> Bool) {
    let listening = IdentificationOrder.listening(self.drivers)
    for place in listening { listen(place.kind, place.rate, isWanted) }
    for described in rest where !Self.isIn(listening, described) {
      listen(described.name, described.rate, isWanted)
    }
    let asking = IdentificationOrder.asking(self.drivers)
    for place in asking { ask(place.kind, place.rate, isWanted) }
    for described in rest where !Self.isIn(asking, described) {
      ask(described.name, described.rate, isWanted)
    }
  }

  /// For each pair of characteristics it first listens, then asks one kind after another.
  private mutating func planOnAir(_ described: [DescribedProtocol], _ isWanted: (String) -> Bool) {
    let pairs = Dictionary(grouping: described) { $0.gatt }.sorted { Self.order($0.key) < Self.order($1.key) }
    for (_, kinds) in pairs {
      for kind in kinds { listen(kind.name, kind.rate, isWanted) }
      for kind in kinds { ask(kind.name, kind.rate, isWanted) }
    }
  }

  private static func order(_ gatt: GATTSettings) -> String {
    [gatt.write, gatt.notify, gatt.greeting?.characteristic].map { $0?.text ?? "" }.joined(separator: " ")
  }

  /// The kinds that the plan can find.
  public var kinds: [String] {
    var kinds: [String] = []
    for kind in steps.flatMap(\.kinds) where !kinds.contains(kind) { kinds.append(kind) }
    return kinds
  }

  /// Whether the plan sends nothing.
  public var isSilent: Bool { steps.allSatisfy(\.isListening) }

  /// The longest time that the plan takes. What isn't tried until then is skipped.
  public var longest: Duration {
    longest(of: steps.indices) + (isOnAir ? GATTTransport.connectLimit : .zero) + Self.opening
  }

  /// The time for opening the port and for closing it: drivers of serial adapters send messages for both.
  private static let opening = Duration.seconds(1)

  /// The longest time of these steps, with the modem lines that they raise and lower.
  func longest(of range: Range<Int>) -> Duration {
    var last = TerminalSettings()
    return steps[range].reduce(Duration.zero) { sum, step in
      guard let line = step.line else { return sum + step.longest }
      defer { last = line }
      return sum + step.longest + (line.drivesOutputs(as: last) ? .zero : Identifier.powerUp)
    }
  }

  // MARK: - Steps

  private static func isIn(_ order: [IdentificationOrder.Place], _ described: DescribedProtocol) -> Bool {
    order.contains { $0.kind == described.name && $0.rate == described.rate }
  }

  private mutating func listen(_ kind: String, _ rate: UInt32, _ isWanted: (String) -> Bool) {
    guard isWanted(kind), port != .modbusTCP else { return }
    let time = max(timeout ?? .zero, Self.listening)
    if let native = probe(kind, timeout: time), native.sends.isEmpty { return add(native, line(rate)) }
    guard let described = protocols[kind], described.description.canBeHeard,
      let probe = try? DescribedProbe(described.description, request: nil, wire: .serial, timeout: nil)
    else { return }
    add(
      IdentificationStep(
        line: line(rate, described), gatt: gatt(described), sends: [], timeout: time,
        candidates: [.init(kind: kind, probe: probe)]))
  }

  private mutating func ask(_ name: String, _ rate: UInt32, _ isWanted: (String) -> Bool) {
    if let native = probe(name, timeout: timeout) {
      guard isWanted(native.kind), port != .modbusTCP else { return }
      return add(native, line(rate))
    }
    guard isWanted(name), let described = protocols[name],
      port != .modbusTCP || described.description.modbus != nil
    else { return }
    for request in described.description.safeIdentifications { ask(described, request, rate) }
  }

  /// The probe of a driver in Swift for a kind in `IdentificationOrder.Place`; nil if no driver has one.
  private func probe(_ name: String, timeout: Duration?) -> NativeProbe? {
    let parts = name.split(separator: "/", maxSplits: 1).map(String.init)
    let driver = drivers.first { $0.name == parts.first }
    return driver?.probe?(parts.count > 1 ? parts[1] : nil, port == .connection(isNetwork: true), timeout)
  }

  private mutating func ask(_ described: DescribedProtocol, _ request: Int, _ rate: UInt32) {
    let hasHeader = port == .modbusTCP && described.description.modbus?.isSerialOverNetwork == false
    guard
      let probe = try? DescribedProbe(
        described.description, request: request, wire: hasHeader ? .network : .serial, timeout: timeout)
    else { return }
    let plan = described.description.plan
    var sends = [IdentificationStep.Sending(probe.request)]
    if let wake = plan.wake { sends.insert(.init(wake.bytes, pause: .nanoseconds(wake.pause)), at: 0) }
    var step = IdentificationStep(
      line: line(rate, described), gatt: gatt(described), sends: sends,
      timeout: max(probe.timeout, .nanoseconds(plan.retryGap)),
      candidates: [.init(kind: described.name, probe: probe)])
    // At most three tries, and one less than the driver makes, because it isn't known whether the accessory is there.
    step.times = min(3, max(1, plan.tries - 1))
    add(step)
  }

  private mutating func add(_ native: NativeProbe, _ line: TerminalSettings?) {
    var step = IdentificationStep(
      line: line, sends: native.sends, timeout: native.timeout,
      candidates: [.init(kind: native.kind, probe: native.probe)])
    (step.times, step.farewell) = (native.times, native.farewell)
    add(step)
  }

  /// Adds a step, or merges its kinds into an earlier step that does the same.
  private mutating func add(_ step: IdentificationStep) {
    // Without baud rates, steps for one kind at several rates become the same step.
    guard let place = steps.firstIndex(where: { $0.isSame(as: step) }) else { return steps.append(step) }
    steps[place].candidates += step.candidates.filter { !steps[place].kinds.contains($0.kind) }
    steps[place].times = max(steps[place].times, step.times)
    steps[place].timeout = max(steps[place].timeout, step.timeout)
  }

  private func gatt(_ described: DescribedProtocol) -> GATTSettings? { port == .air ? described.gatt : nil }

  private func line(_ rate: UInt32, _ described: DescribedProtocol? = nil) -> TerminalSettings? {
    guard port == .line else { return nil }
    var line = described?.line ?? TerminalSettings()
    (line.baudRate, line.settle, line.rs485) = (rate, .zero, nil)
    return line
  }

  // MARK: - Kinds that aren't tried

  private func reason(_ name: String) -> String {
    if drivers.first(where: { $0.name == name })?.lacks.isSuperset(of: [.status, .battery, .requests]) == true {
      return "it sends no replies"
    }
    if port == .air, protocols[name] == nil {
      return onlyOnAir.contains(name)
        ? "it is read by what it advertises" : "it isn't known how it looks by Bluetooth Low Energy"
    }
    if port != .air, onlyOnAir.contains(name) {
      return "it is a Bluetooth device, which is found by its name and services"
    }
    let described = protocols[name]
    if port == .modbusTCP, described?.description.modbus == nil { return "this is a port for Modbus TCP" }
    return described == nil ? "no request is known that identifies it" : "its description has no plan: identify"
  }
}

extension ProtocolDescription {
  /// The indices of the requests that can identify the accessory: none is a write, and all their arguments have defaults.
  fileprivate var safeIdentifications: [Int] {
    guard let identify = plan.identify else { return [] }
    return ([identify] + plan.identifyOtherwise).filter { place in
      guard requests.indices.contains(place) else { return false }
      let request = requests[place]
      return !request.isWrite && request.reply != nil && request.arguments.allSatisfy { $0.defaultValue != nil }
    }
  }

  /// Whether the accessory sends messages by itself whose frames have a checksum.
  fileprivate var canBeHeard: Bool { messages.contains { $0.isPushed && isChecked($0.framing) } }
}

extension DescribedProtocol {
  /// Whether its accessories have no serial line.
  fileprivate var isOnlyOnAir: Bool { description.bluetooth != nil && line == nil }
  /// Whether its accessories have characteristics that carry bytes.
  fileprivate var canBeAskedOnAir: Bool { description.bluetooth != nil && description.advertisement == nil }
  fileprivate var gatt: GATTSettings { description.bluetooth?.gatt ?? GATTSettings() }
  /// The line's baud rate.
  fileprivate var rate: UInt32 { line?.baudRate ?? 115_200 }
}

extension TerminalSettings {
  /// Whether DTR and RTS stay as they are when these settings follow the others.
  fileprivate func drivesOutputs(as last: TerminalSettings) -> Bool {
    dtr == last.dtr && rts == last.rts && (flowControl == .hardware) == (last.flowControl == .hardware)
  }
}
