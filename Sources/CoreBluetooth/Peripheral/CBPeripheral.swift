// SPDX-License-Identifier: Apache-2.0

import AccessoryBluetooth
import AccessoryCore
import Foundation

/// Whether a device is connected.
public enum CBPeripheralState: Int, Sendable {
  /// It isn't connected, and no attempt is running.
  case disconnected = 0
  /// It is being connected.
  case connecting
  /// It is connected.
  case connected
  /// It is being disconnected.
  case disconnecting
}

/// A device that a `CBCentralManager` has found. There is one object for a device and a manager.
///
/// All members may be used from any thread. The delegate is called on the manager's queue. Requests to a device that
/// isn't connected, and to attributes of an earlier connection, are logged and ignored. While 4,096 requests wait for their
/// replies, the delegate gets `CBError.outOfSpace` for a further one.
///
/// `@unchecked Sendable`: its state is behind a lock. While this lock is held, those of the attributes and of the
/// manager may be taken, never the other way round; delegates are called without it. The compiler can't check a class
/// that isn't final.
open class CBPeripheral: CBPeer, @unchecked Sendable {
  struct State {
    var name: String?
    var state = CBPeripheralState.disconnected
    var link: RadioLink
    var reconnects = false
    var packetSize = GATTPacket.smallest
    var table: [RadioService] = []
    var services: [CBService]?
    /// The discovered attributes, by handle.
    var attributes: [Int: CBAttribute] = [:]
    /// The services requested by each pending call of `discoverServices`.
    var searches: [[CBUUID]?] = []
    /// The numbers of pending requests and of pending writes without a response.
    var waiting = (requests: 0, commands: 0)
    var wantsReady = false
    /// The strength that was told last.
    var rssi: Int?
    weak var delegate: (any CBPeripheralDelegate)?
  }

  let core: CentralCore
  let peer: RadioPeer
  let contents: Locked<State>

  /// The most pending requests.
  static let requestLimit = 4_096
  /// An unknown strength, as Bluetooth writes it.
  static let unknownStrength = 127
  /// The numbers of pending writes without a response at which `canSendWriteWithoutResponse` becomes false and true
  /// again, and at which further writes are dropped.
  static let commands = (full: 64, ready: 32, most: 2_048)

  init(_ peer: RadioPeer, _ core: CentralCore) {
    (self.peer, self.core) = (peer, core)
    contents = Locked(State(link: RadioLink(peer, 0)))
    super.init(identifier: peer.identifier)
  }

  deinit {
    let (state, link) = contents.withLock { ($0.state, $0.link) }
    guard state == .connecting else { return }
    Misuse.log("a peripheral was let go while it was connecting, which ends the attempt: keep it")
    core.send(.disconnect(link))
  }

  /// The delegate; not retained.
  open weak var delegate: (any CBPeripheralDelegate)? {
    get { contents.withLock { PeripheralClient(delegate: $0.delegate) }.delegate }
    set {
      let client = PeripheralClient(delegate: newValue)
      contents.withLock { $0.delegate = client.delegate }
    }
  }

  /// The name that it advertises, or that BlueZ remembers. Don't trust it: any device can advertise any name.
  open var name: String? { contents.withLock { $0.name } }

  /// Whether it is connected.
  open var state: CBPeripheralState { contents.withLock { $0.state } }

  /// The services that the last `discoverServices` has found, in the order of the device; nil before, and after a disconnection.
  open var services: [CBService]? { contents.withLock { $0.services } }

  /// Whether there is room for another write without a response.
  open var canSendWriteWithoutResponse: Bool {
    contents.withLock { $0.state == .connected && $0.waiting.commands < Self.commands.full }
  }

  /// Always false: Linux has no iOS notifications.
  open var ancsAuthorized: Bool { false }

  /// The strength of the signal that the delegate was told last; nil before.
  @available(*, deprecated, message: "use readRSSI()")
  open var rssi: NSNumber? { contents.withLock { $0.rssi }.map { NSNumber(value: $0) } }

  /// For a log, in the form of Apple's. The device's name is shown escaped.
  open override var description: String {
    let (name, size, state) = contents.withLock { ($0.name, $0.packetSize, $0.state) }
    return words([
      "identifier = \(identifier)", "name = \(name.map { SafeText.escape($0, limit: 256) } ?? "(null)")",
      "mtu = \(size)",
      "state = \(state)",
    ])
  }

  /// Requests the strength of the signal. bluetoothd measures advertisements alone: the delegate gets the strength of one that was
  /// heard in the last five seconds, and otherwise `CBError.operationNotSupported`.
  open func readRSSI() {
    ask("readRSSI()") {
      .measure($0.link)
    } refused: {
      $0.peripheral($1, didReadRSSI: NSNumber(value: Self.unknownStrength), error: $2)
    }
  }

  /// Discovers services with these UUIDs, or all services. An empty list is the same as nil.
  open func discoverServices(_ serviceUUIDs: [CBUUID]?) {
    ask("discoverServices(_:)") { state in
      state.searches.append(serviceUUIDs)
      return .discover(state.link)
    } refused: {
      $0.peripheral($1, didDiscoverServices: $2)
    }
  }

  /// Discovers the services in a service.
  open func discoverIncludedServices(_ includedServiceUUIDs: [CBUUID]?, for service: CBService) {
    look("discoverIncludedServices(_:for:)", in: service) { state, place in
      let handles = state.table.first { $0.handle == place.handle }?.included ?? []
      let found = handles.compactMap { handle in state.table.first { $0.handle == handle } }
        .filter { Self.isWanted($0.uuid, includedServiceUUIDs) }
      service.set(included: found.map { self.service($0, &state) })
    } tell: { [weak self] error in
      self?.tell { $0.peripheral($1, didDiscoverIncludedServicesFor: service, error: error?.error) }
    }
  }

  /// Discovers the characteristics of a service with these UUIDs, or all of them.
  open func discoverCharacteristics(_ characteristicUUIDs: [CBUUID]?, for service: CBService) {
    look("discoverCharacteristics(_:for:)", in: service) { state, place in
      let found = (state.table.first { $0.handle == place.handle }?.characteristics ?? [])
        .filter { Self.isWanted($0.uuid, characteristicUUIDs) }
      service.set(found.map { self.characteristic($0, of: service, &state) })
    } tell: { [weak self] error in
      self?.tell { $0.peripheral($1, didDiscoverCharacteristicsFor: service, error: error?.error) }
    }
  }

  /// Discovers the descriptors of a characteristic.
  open func discoverDescriptors(for characteristic: CBCharacteristic) {
    look("discoverDescriptors(for:)", in: characteristic) { state, place in
      let found = state.table.lazy.flatMap(\.characteristics).first { $0.handle == place.handle }?.descriptors ?? []
      characteristic.set(found.map { self.descriptor($0, of: characteristic, &state) })
    } tell: { [weak self] error in
      self?.tell { $0.peripheral($1, didDiscoverDescriptorsFor: characteristic, error: error?.error) }
    }
  }

  /// Reads a value.
  open func readValue(for characteristic: CBCharacteristic) {
    ask("readValue(for:)", of: characteristic) {
      .read($0, handle: $1)
    } refused: {
      $0.peripheral($1, didUpdateValueFor: characteristic, error: $2)
    }
  }

  /// Reads a value.
  open func readValue(for descriptor: CBDescriptor) {
    ask("readValue(for:)", of: descriptor) {
      .read($0, handle: $1)
    } refused: {
      $0.peripheral($1, didUpdateValueFor: descriptor, error: $2)
    }
  }

  /// Writes a value: with a response, of up to 512 bytes; without a response, of up to `maximumWriteValueLength(for:)`
  /// bytes. A longer value without a response is logged and dropped.
  open func writeValue(_ data: Data, for characteristic: CBCharacteristic, type: CBCharacteristicWriteType) {
    switch type {
    case .withResponse:
      guard data.count <= GATTPacket.longestValue else {
        return refuse("writeValue(_:for:type:)", characteristic) {
          $0.peripheral($1, didWriteValueFor: characteristic, error: CBATTError(.invalidAttributeValueLength))
        }
      }
      ask("writeValue(_:for:type:)", of: characteristic) {
        .write($0, handle: $1, Array(data))
      } refused: {
        $0.peripheral($1, didWriteValueFor: characteristic, error: $2)
      }
    case .withoutResponse: sendCommand(Array(data), characteristic)
    }
  }

  /// Writes a value. The descriptor 2902 is written by `setNotifyValue`, and an error here.
  open func writeValue(_ data: Data, for descriptor: CBDescriptor) {
    let isOurs = descriptor.uuid.uuidString == CBUUIDClientCharacteristicConfigurationString
    if isOurs { Misuse.log("writeValue(_:for:): the descriptor 2902 is written by setNotifyValue(_:for:)") }
    guard !isOurs, data.count <= GATTPacket.longestValue else {
      let error: any Error = isOurs ? CBError(.uuidNotAllowed) : CBATTError(.invalidAttributeValueLength)
      return refuse("writeValue(_:for:)", descriptor) { $0.peripheral($1, didWriteValueFor: descriptor, error: error) }
    }
    ask("writeValue(_:for:)", of: descriptor) {
      .write($0, handle: $1, Array(data))
    } refused: {
      $0.peripheral($1, didWriteValueFor: descriptor, error: $2)
    }
  }

  /// Turns notifications of a value on or off. An error if the characteristic supports neither notifications nor
  /// indications.
  open func setNotifyValue(_ enabled: Bool, for characteristic: CBCharacteristic) {
    guard !characteristic.properties.isDisjoint(with: [.notify, .indicate]) else {
      return refuse("setNotifyValue(_:for:)", characteristic) {
        $0.peripheral($1, didUpdateNotificationStateFor: characteristic, error: CBATTError(.requestNotSupported))
      }
    }
    ask("setNotifyValue(_:for:)", of: characteristic) {
      .notify($0, handle: $1, enabled)
    } refused: {
      $0.peripheral($1, didUpdateNotificationStateFor: characteristic, error: $2)
    }
  }

  /// The most bytes of a write: 512 with a response; without a response as many as fit into a packet, at least 20.
  open func maximumWriteValueLength(for type: CBCharacteristicWriteType) -> Int {
    type == .withResponse ? GATTPacket.longestValue : GATTPacket.room(in: contents.withLock { $0.packetSize })
  }

  /// Always reports `CBError.operationNotSupported` to the delegate, because BlueZ gives no such channels to an
  /// ordinary user's program.
  open func openL2CAPChannel(_ PSM: CBL2CAPPSM) {
    tellLater { $0.peripheral($1, didOpen: nil, error: CBError(.operationNotSupported)) }
  }
}
