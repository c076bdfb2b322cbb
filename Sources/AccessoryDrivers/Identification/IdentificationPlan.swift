// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import AccessoryIO
import AccessoryProtocols

/// What is tried, step by step, to find out what is at a port: first it is only listened, then what disturbs least is asked.
public struct IdentificationPlan: Sendable {
  /// What leads to the accessory.
  public enum PortKind: Sendable, Hashable {
    /// A line, whose rate can be set.
    case line
    /// A connection that passes bytes on; nobody here can set a rate. The other end is on the network, or on this machine.
    case connection(isNetwork: Bool)
    /// A connection to what speaks Modbus TCP.
    case modbusTCP

    /// The way to an address; nil for USB endpoints, where numbers and strings say what it is.
    public init?(_ address: DeviceAddress) {
      switch address {
      case .terminal: self = .line
      case .usb: return nil
      case .tcp(let place) where place.port == 502: self = .modbusTCP
      case .tcp, .rfc2217: self = .connection(isNetwork: true)
      case .unix: self = .connection(isNetwork: false)
      }
    }
  }

  /// The steps, in their order.
  public private(set) var steps: [IdentificationStep] = []
  /// Kinds that aren't tried, with the reasons.
  public private(set) var untried: [IdentificationFind.Fact] = []

  private let drivers: [String]
  /// By name; those that come with the package are read once.
  private let protocols: [String: DescribedProtocol]
  private let port: PortKind
  private let patience: Duration?

  /// How long it is listened at each rate: what sends by itself does so every second.
  public static let listening = Duration.milliseconds(1_500)

  /// What is tried for all kinds of a library but those that `isWanted` says no to. `patience` is how long an answer may take in
  /// place of each kind's own time, and how long it is listened at least.
  public init(
    _ drivers: DriverLibrary, port: PortKind, patience: Duration? = nil, isWanted: (String) -> Bool = { _ in true }
  ) {
    (self.drivers, self.port, self.patience) = (drivers.drivers.map(\.name), port, patience)
    let described = drivers.protocols.names.compactMap { drivers.protocols.described($0) }
    protocols = Dictionary(described.map { ($0.name, $0) }) { $1 }
    // By rate and name, so that those without a place in the order have one that is always the same.
    let rest = described.sorted { ($0.rate, $0.name) < ($1.rate, $1.name) }
    for place in IdentificationOrder.listening { listen(place.kind, place.rate, isWanted) }
    for described in rest where !Self.isIn(IdentificationOrder.listening, described) {
      listen(described.name, described.rate, isWanted)
    }
    for place in IdentificationOrder.asking { ask(place.kind, place.rate, isWanted) }
    for described in rest where !Self.isIn(IdentificationOrder.asking, described) {
      ask(described.name, described.rate, isWanted)
    }
    let tried = Set(steps.flatMap(\.kinds))
    untried = (self.drivers + drivers.protocols.names).filter { isWanted($0) && !tried.contains($0) }
      .map { .init($0, reason($0)) }
  }

  /// The kinds that can be found.
  public var kinds: [String] {
    var kinds: [String] = []
    for kind in steps.flatMap(\.kinds) where !kinds.contains(kind) { kinds.append(kind) }
    return kinds
  }

  /// Whether nothing is sent at all.
  public var isSilent: Bool { steps.allSatisfy(\.isListening) }

  /// The longest time that it takes.
  public var longest: Duration { steps.reduce(.zero) { $0 + $1.longest } }

  // MARK: - Steps

  private static func isIn(_ order: [IdentificationOrder.Place], _ described: DescribedProtocol) -> Bool {
    order.contains { $0.kind == described.name && $0.rate == described.rate }
  }

  private mutating func listen(_ kind: String, _ rate: UInt32, _ isWanted: (String) -> Bool) {
    guard isWanted(kind), port != .modbusTCP else { return }
    let time = max(patience ?? .zero, Self.listening)
    if kind == IdentificationOrder.mavlink, drivers.contains(kind) {
      return add(NativeProbe.mavlink(time), line(rate))
    }
    guard let described = protocols[kind], described.description.canBeHeard,
      let probe = try? DescribedProbe(described.description, request: nil, wire: .serial, patience: nil)
    else { return }
    add(
      IdentificationStep(
        line: line(rate, described), sends: [], patience: time, candidates: [.init(kind: kind, probe: probe)]))
  }

  private mutating func ask(_ name: String, _ rate: UInt32, _ isWanted: (String) -> Bool) {
    let isNetwork = port == .connection(isNetwork: true)
    if let native = NativeProbe.at(name, isNetwork: isNetwork, patience: patience) {
      guard isWanted(native.kind), port != .modbusTCP, drivers.contains(native.kind)
      else { return }
      return add(native, line(rate))
    }
    guard isWanted(name), let described = protocols[name],
      port != .modbusTCP || described.description.modbus != nil
    else { return }
    for request in described.description.safeIdentifications { ask(described, request, rate) }
  }

  private mutating func ask(_ described: DescribedProtocol, _ request: Int, _ rate: UInt32) {
    let hasHeader = port == .modbusTCP && described.description.modbus?.isSerialOverNetwork == false
    guard
      let probe = try? DescribedProbe(
        described.description, request: request, wire: hasHeader ? .network : .serial, patience: patience)
    else { return }
    let plan = described.description.plan
    var sends = [IdentificationStep.Sending(probe.request)]
    if let wake = plan.wake { sends.insert(.init(wake.bytes, pause: .nanoseconds(wake.pause)), at: 0) }
    var step = IdentificationStep(
      line: line(rate, described), sends: sends, patience: max(probe.patience, .nanoseconds(plan.retryGap)),
      candidates: [.init(kind: described.name, probe: probe)])
    // Once less than by the driver, which knows that somebody is there.
    step.times = min(3, max(1, plan.tries - 1))
    add(step)
  }

  private mutating func add(_ native: NativeProbe, _ line: TerminalSettings?) {
    var step = IdentificationStep(
      line: line, sends: native.sends, patience: native.patience,
      candidates: [.init(kind: native.kind, probe: native.probe)])
    (step.times, step.farewell) = (native.times, native.farewell)
    add(step)
  }

  /// Adds a step, or what is new of it to one that does the same.
  private mutating func add(_ step: IdentificationStep) {
    // Where there are no rates, each kind has its turn once.
    guard let place = steps.firstIndex(where: { $0.isSame(as: step) }) else { return steps.append(step) }
    steps[place].candidates += step.candidates.filter { !steps[place].kinds.contains($0.kind) }
    steps[place].times = max(steps[place].times, step.times)
    steps[place].patience = max(steps[place].patience, step.patience)
  }

  private func line(_ rate: UInt32, _ described: DescribedProtocol? = nil) -> TerminalSettings? {
    guard port == .line else { return nil }
    var line = described?.line ?? TerminalSettings()
    (line.baudRate, line.settle, line.rs485) = (rate, .zero, nil)
    return line
  }

  // MARK: - What isn't tried

  private func reason(_ name: String) -> String {
    if name == HM1XCar.driverName { return "it says nothing, whatever it is told" }
    let described = protocols[name]
    if port == .modbusTCP, described?.description.modbus == nil { return "this is a port for Modbus TCP" }
    return described == nil ? "nothing is known that finds it" : "its description has no plan: identify"
  }
}

extension ProtocolDescription {
  /// The requests that find the accessory, by their places: each is answered by some models, writes nothing and needs nothing
  /// to be said.
  fileprivate var safeIdentifications: [Int] {
    guard let identify = plan.identify else { return [] }
    return ([identify] + plan.identifyOtherwise).filter { place in
      guard requests.indices.contains(place) else { return false }
      let request = requests[place]
      return !request.isWrite && request.reply != nil && request.arguments.allSatisfy { $0.standard != nil }
    }
  }

  /// Whether it sends by itself what can't be taken for something else.
  fileprivate var canBeHeard: Bool { messages.contains { $0.isPushed && isChecked($0.framing) } }
}

extension DescribedProtocol {
  /// The rate of its line.
  fileprivate var rate: UInt32 { line?.baudRate ?? 115_200 }
}
