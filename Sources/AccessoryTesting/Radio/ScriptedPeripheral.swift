// SPDX-License-Identifier: Apache-2.0

import AccessoryBluetooth
import AccessoryCore

/// A device of Bluetooth Low Energy that a test plays. Add it to a `ScriptedRadio`; everything may be called on any thread, also
/// within the handlers.
public final class ScriptedPeripheral: Sendable {
  /// How a request is answered.
  public enum Answer: Sendable, Equatable {
    /// With success: for a read, with this value; for a write, the value is ignored.
    case value([UInt8])
    /// With an error of the Attribute Protocol.
    case error(UInt8)
  }

  struct State: Sendable {
    var advertisement: RadioAdvertisement
    var isInReach = true
    var refusesConnections = false
    var packetSize = 23
    var table: ScriptedTable
    var isPaused = false
    /// What waits while it is paused.
    var waiting: [@Sendable () -> Void] = []
    weak var radio: ScriptedRadio?
  }

  /// What makes it another device than others: its identifier is made of it.
  public let id: String
  /// The services that it advertises.
  public let advertised: [String]
  let peer: RadioPeer
  let state: Locked<State>
  let onRead: @Sendable (String) -> Answer?
  let onWrite: @Sendable (ScriptedPeripheral, String, [UInt8]) -> Answer?

  /// A device in reach. It advertises `advertised`, or else its primary services.
  ///
  /// `onRead` is called with the UUID of what is read, in small letters, and `onWrite` with what is written; nil means the usual
  /// answer: reads answer the value that was written last, where the characteristic can be read, and writes succeed, where it can
  /// be written.
  public init(
    _ name: String?, id: String? = nil, advertising advertised: [String]? = nil, packetSize: Int = 23,
    _ services: [ScriptedService], onRead: @escaping @Sendable (String) -> Answer? = { _ in nil },
    onWrite: @escaping @Sendable (ScriptedPeripheral, String, [UInt8]) -> Answer? = { _, _, _ in nil }
  ) {
    self.id = id ?? name ?? ""
    peer = RadioPeer(name: "scripted/" + self.id)
    self.advertised = advertised ?? services.filter(\.isPrimary).map(\.uuid.description)
    (self.onRead, self.onWrite) = (onRead, onWrite)
    let advertisement = RadioAdvertisement(peer, name: name, strength: -50, services: self.advertised.map(scripted))
    state = Locked(State(advertisement: advertisement, packetSize: packetSize, table: ScriptedTable(services)))
  }

  /// A module with a serial port, as HM-10 is: the service FFE0 with FFE1, which is written without a response, and notifies.
  /// `onWrite` is called with the bytes; what it returns is sent back.
  public static func serialPort(
    _ name: String = "HMSoft", id: String? = nil, onWrite: @escaping @Sendable ([UInt8]) -> [UInt8]? = { _ in nil }
  ) -> ScriptedPeripheral {
    ScriptedPeripheral(
      name, id: id,
      [ScriptedService("ffe0", [ScriptedCharacteristic("ffe1", [.read, .writeWithoutResponse, .notify])])],
      onWrite: { peripheral, _, bytes in
        if let answer = onWrite(bytes) { peripheral.send(answer, from: "ffe1") }
        return nil
      })
  }

  private var radio: ScriptedRadio? { state.withLock { $0.radio } }

  /// Is heard once more, by those who search.
  public func advertise() { radio?.advertise(self) }

  /// Has another name from now on. Those who are connected are told.
  public func rename(_ name: String?) {
    state.withLock { $0.advertisement.name = name }
    radio?.tellName(of: self)
  }

  /// Advertises data of a manufacturer from now on.
  public func advertise(_ data: [UInt8], ofManufacturer company: UInt16) {
    advertise { $0.manufacturerData[company] = data }
  }

  /// Advertises data of a service from now on.
  public func advertise(_ data: [UInt8], ofService service: String) {
    advertise { $0.serviceData[scripted(service)] = data }
  }

  /// Advertises the power with which it sends, in dBm, from now on; nil for none.
  public func advertise(power: Int?) { advertise { $0.power = power } }

  /// Advertises from now on whether it can be connected.
  public func advertise(isConnectable: Bool) { advertise { $0.isConnectable = isConnectable } }

  private func advertise(_ change: (inout RadioAdvertisement) -> Void) {
    state.withLock { change(&$0.advertisement) }
    advertise()
  }

  /// Comes into reach: those who wait for it are connected.
  public func appear() {
    state.withLock { $0.isInReach = true }
    radio?.appeared(self)
  }

  /// Is out of reach: connections are lost.
  public func vanish() {
    state.withLock { $0.isInReach = false }
    radio?.end(self, .lost)
  }

  /// Ends its connections.
  public func disconnect() { radio?.end(self, .disconnected) }

  /// Whether attempts to connect it fail from now on.
  public func refuseConnections(_ refuses: Bool = true) { state.withLock { $0.refusesConnections = refuses } }

  /// Sends a value of a characteristic to those who have asked for it.
  public func send(_ bytes: [UInt8], from characteristic: String) { radio?.send(bytes, scripted(characteristic), self) }

  /// Has other services from now on. Those who are connected are told.
  public func change(to services: [ScriptedService]) {
    state.withLock { $0.table = ScriptedTable(services, first: $0.table.end) }
    radio?.tellTable(of: self)
  }

  /// Answers nothing and takes nothing until `resume`.
  public func pause() { state.withLock { $0.isPaused = true } }

  /// Answers what has come meanwhile, in order.
  public func resume() { radio?.resume(self) }

  /// The strength of its signal from now on, in dBm.
  public func setStrength(_ strength: Int) { state.withLock { $0.advertisement.strength = strength } }

  var advertisement: RadioAdvertisement { state.withLock { $0.advertisement } }

  // MARK: - Requests

  func read(_ handle: Int) -> Result<[UInt8], RadioFailure> {
    let (uuid, value, mayRead) = state.withLock { state in
      (state.table.uuids[handle], state.table.values[handle], state.table.properties[handle]?.contains(.read) ?? true)
    }
    guard let uuid, let value else { return .failure(.noAttribute) }
    switch onRead(uuid.description) {
    case .value(let value)?: return .success(value)
    case .error(let number)?: return .failure(.refused(number))
    case nil: return mayRead ? .success(value) : .failure(.refused(2))
    }
  }

  func write(_ handle: Int, _ bytes: [UInt8], isCommand: Bool) -> RadioFailure? {
    let needed: ScriptedCharacteristic.Properties = isCommand ? .writeWithoutResponse : .write
    let (uuid, mayWrite) = state.withLock { state in
      (state.table.uuids[handle], state.table.properties[handle]?.contains(needed) ?? !isCommand)
    }
    guard let uuid else { return .noAttribute }
    guard mayWrite else { return .refused(3) }
    if case .error(let number)? = onWrite(self, uuid.description, bytes) { return .refused(number) }
    state.withLock { $0.table.values[handle] = bytes }
    return nil
  }
}
