// SPDX-License-Identifier: Apache-2.0

import AccessoryBluetooth
import AccessoryCore
import Dispatch
import Foundation

/// What a peripheral manager does: it has the radio's session, and tells the delegate on its queue.
///
/// As in `CentralCore`, what clients see changes on `delivery`, right before the delegate is told; clients call on any thread, and
/// delegates are called without any lock.
final class PeripheralCore: Sendable {
  private struct State {
    var session: (any ServingSession)?
    var radio = CBManagerState.unknown
    var isTold = false
    var client = WeakPeripheralClient()
    /// The services that were added, by number, and those of their characteristics, by handle.
    var services: [Int: CBMutableService] = [:]
    var characteristics: [Int: CBMutableCharacteristic] = [:]
    var lastNumber = 0
    var advertising = Advertising.no
    /// The devices that use services, as long as they are connected.
    var centrals: [RadioPeer: CBCentral] = [:]
    /// The requests that the client must answer, with the device that waits.
    var open: [Int: RadioPeer] = [:]
  }

  private enum Advertising { case no, asked, yes }

  private let state = Locked(State())
  private let delivery: DispatchQueue

  init(_ queue: DispatchQueue?) { delivery = DispatchQueue(label: "CoreBluetooth.peripheral", target: queue ?? .main) }

  func begin(for manager: CBPeripheralManager) {
    state.withLock { $0.client.manager = manager }
    // Events wait for the session: the client may use it as soon as it is told the state.
    delivery.suspend()
    defer { delivery.resume() }
    let session = AdapterChoice.radio.beginServing { [weak self] event in self?.receive(event) }
    state.withLock { $0.session = session }
  }

  /// Ends everything. Nobody is told.
  func close() {
    // Objects of the client are let go outside of the lock.
    let gone = state.withLock { state in
      defer { (state.session, state.services, state.characteristics, state.centrals) = (nil, [:], [:], [:]) }
      return (session: state.session, state.services, state.characteristics, state.centrals)
    }
    gone.session?.close()
  }

  // MARK: - What clients see and do

  var radioState: CBManagerState { state.withLock { $0.radio } }
  var isAdvertising: Bool { state.withLock { $0.advertising == .yes } }
  var delegate: (any CBPeripheralManagerDelegate)? { state.withLock { $0.client.strong }.delegate }

  func set(_ delegate: (any CBPeripheralManagerDelegate)?) {
    let client = StrongPeripheralClient(manager: nil, delegate: delegate)
    state.withLock { $0.client.delegate = client.delegate }
  }

  private func isOn(_ call: String) -> Bool {
    let radio = radioState
    if radio != .poweredOn { Misuse.log("CBPeripheralManager.\(call) before the state is poweredOn: it is \(radio)") }
    return radio == .poweredOn
  }

  func advertise(_ data: [String: Any]?) {
    guard isOn("startAdvertising(_:)") else { return }
    let uuids = (data?[CBAdvertisementDataServiceUUIDsKey] as? [CBUUID] ?? []).map(\.bluetooth)
    let offer = ServedOffer(data?[CBAdvertisementDataLocalNameKey] as? String, uuids)
    let others = (data ?? [:]).keys.filter {
      $0 != CBAdvertisementDataLocalNameKey && $0 != CBAdvertisementDataServiceUUIDsKey
    }
    if !others.isEmpty {
      Misuse.log("startAdvertising(_:): only the local name and service UUIDs are advertised, not \(others.sorted())")
    }
    let isBusy = state.withLock { state in
      guard state.advertising == .no else { return true }
      state.advertising = .asked
      state.session?.send(.offer(offer))
      return false
    }
    guard isBusy else { return }
    deliver { $1.peripheralManagerDidStartAdvertising($0, error: CBError(.alreadyAdvertising)) }
  }

  func stopAdvertising() {
    state.withLock { state in
      guard state.advertising != .no else { return }
      state.advertising = .no
      state.session?.send(.offer(nil))
    }
  }

  func add(_ service: CBMutableService) {
    guard isOn("add(_:)") else { return }
    if let error = Self.refusal(of: service) {
      return deliver { $1.peripheralManager($0, didAdd: service, error: error) }
    }
    let isKnown = state.withLock { state in
      guard !state.services.values.contains(where: { $0 === service }) else { return true }
      state.lastNumber += 1
      let number = state.lastNumber
      state.services[number] = service
      var served: [ServedCharacteristic] = []
      for characteristic in service.characteristics ?? [] {
        // The initializer of `CBCharacteristic` is ours alone: all that clients can make are mutable.
        guard let characteristic = characteristic as? CBMutableCharacteristic else { continue }
        state.lastNumber += 1
        state.characteristics[state.lastNumber] = characteristic
        served.append(characteristic.served(state.lastNumber))
      }
      state.session?.send(
        .publish(ServedService(service.uuid.bluetooth, number: number, isPrimary: service.isPrimary, served)))
      return false
    }
    if isKnown { Misuse.log("add(_:): the service \(service.uuid.uuidString) is there already") }
  }

  /// Why a service can't be added, whatever the radio says.
  private static func refusal(of service: CBMutableService) -> CBError? {
    // GAP and GATT are the system's.
    if ["1800", "1801"].contains(service.uuid.uuidString) { return CBError(.uuidNotAllowed) }
    // An application of BlueZ's can include only its own services, and each service here is one.
    if service.includedServices?.isEmpty == false { return CBError(.operationNotSupported) }
    let isConstantWritten = (service.characteristics ?? []).contains { characteristic in
      guard characteristic.value != nil, let characteristic = characteristic as? CBMutableCharacteristic else {
        return false
      }
      return characteristic.properties != .read
        || !characteristic.permissions.isDisjoint(with: [.writeable, .writeEncryptionRequired])
    }
    return isConstantWritten ? CBError(.invalidParameters) : nil
  }

  func remove(_ service: CBMutableService) { forget { $0 === service } }

  func removeAll() { forget { _ in true } }

  private func forget(_ isMeant: (CBMutableService) -> Bool) {
    let gone = state.withLock { state -> [CBMutableCharacteristic] in
      var gone: [CBMutableCharacteristic] = []
      for (number, service) in state.services where isMeant(service) {
        state.services[number] = nil
        state.session?.send(.withdraw(number))
        for characteristic in service.characteristics ?? [] {
          guard let handle = state.characteristics.first(where: { $0.value === characteristic })?.key else { continue }
          if let removed = state.characteristics.removeValue(forKey: handle) { gone.append(removed) }
        }
      }
      return gone
    }
    for characteristic in gone { characteristic.set(subscribed: []) }
  }

  func respond(to request: CBATTRequest, _ result: CBATTError.Code) {
    guard request.request.needsAnswer else { return }
    let value = request.value.map { Array($0) } ?? []
    let isOpen = state.withLock { state in
      guard state.open.removeValue(forKey: request.request.id) != nil else { return false }
      state.session?.send(
        .answer(
          request.request.id,
          result == .success ? .success(value) : .failure(.refused(UInt8(truncatingIfNeeded: result.rawValue)))))
      return true
    }
    if !isOpen {
      Misuse.log("respond(to:withResult:): the request isn't open: it was answered, or the central has left")
    }
  }

  func update(_ value: Data, _ characteristic: CBMutableCharacteristic, _ centrals: [CBCentral]?) -> Bool {
    guard isOn("updateValue(_:for:onSubscribedCentrals:)") else { return false }
    let (session, handle) = state.withLock { state in
      (state.session, state.characteristics.first { $0.value === characteristic }?.key)
    }
    guard let session, let handle else {
      Misuse.log(
        "updateValue(_:for:onSubscribedCentrals:): \(characteristic.uuid.uuidString) is in no service that was added")
      return false
    }
    let subscribed = characteristic.subscribedCentrals ?? []
    if let centrals {
      let meant = subscribed.filter { central in centrals.contains { $0 === central } }
      guard !meant.isEmpty else { return true }
      if meant.count < subscribed.count {
        Misuse.log("updateValue(_:for:onSubscribedCentrals:): BlueZ sends a value to all who have subscribed")
      }
    }
    return subscribed.isEmpty || session.notify(handle, Array(value))
  }

  func refuseChannel() {
    deliver { $1.peripheralManager($0, didPublishL2CAPChannel: 0, error: CBError(.operationNotSupported)) }
  }

  // MARK: - What the radio tells

  private func deliver(
    _ body: @escaping @Sendable (CBPeripheralManager, any CBPeripheralManagerDelegate) -> Void
  ) {
    delivery.async { [weak self] in
      guard let client = self?.state.withLock({ $0.client.strong }) else { return }
      client.tell(body)
    }
  }

  private func receive(_ event: ServingEvent) {
    // Below "off", the services are gone; at "off" nothing is advertised. The radio must not offer them again by itself.
    if case .state(let radio) = event, radio != .on { stopAdvertising() }
    if case .state(let radio) = event, radio != .on, radio != .off { removeAll() }
    delivery.async { [weak self] in self?.take(event) }
  }

  private func take(_ event: ServingEvent) {
    // The client may let the manager go while it is told.
    let client = state.withLock { $0.client.strong }
    guard client.manager != nil else { return }
    switch event {
    case .state(let radio):
      let new = CBManagerState(radio)
      let isNews = state.withLock { state in
        defer { (state.radio, state.isTold) = (new, true) }
        if radio != .on { state.open = [:] }
        return new != state.radio || !state.isTold
      }
      if isNews { client.tell { $1.peripheralManagerDidUpdateState($0) } }
    case .published(let number, let failure):
      guard let service = state.withLock({ $0.services[number] }) else { return }
      if failure != nil { remove(service) }
      client.tell { $1.peripheralManager($0, didAdd: service, error: failure.map { Self.error($0) }) }
    case .offered(let failure):
      let wasAsked = state.withLock { state in
        let wasAsked = state.advertising == .asked
        if state.advertising != .no { state.advertising = failure == nil ? .yes : .no }
        return wasAsked
      }
      guard wasAsked else { return }
      client.tell { $1.peripheralManagerDidStartAdvertising($0, error: failure.map { Self.error($0) }) }
    case .subscribed(let central, let handle):
      guard let (object, characteristic) = objects(central, handle) else { return }
      characteristic.set(subscribed: (characteristic.subscribedCentrals ?? []) + [object])
      client.tell { $1.peripheralManager($0, central: object, didSubscribeTo: characteristic) }
    case .unsubscribed(let central, let handle):
      guard let (object, characteristic) = objects(central, handle) else { return }
      characteristic.set(subscribed: (characteristic.subscribedCentrals ?? []).filter { $0 !== object })
      client.tell { $1.peripheralManager($0, central: object, didUnsubscribeFrom: characteristic) }
    case .request(let request): asked(request, client)
    case .left(let peer):
      let gone = state.withLock { state in
        state.open = state.open.filter { $0.value != peer }
        return state.centrals.removeValue(forKey: peer)
      }
      _ = consume gone
    case .ready: client.tell { $1.peripheralManagerIsReady(toUpdateSubscribers: $0) }
    }
  }

  private func asked(_ request: ServingRequest, _ client: StrongPeripheralClient) {
    guard let (central, characteristic) = objects(request.central, request.handle) else {
      if request.needsAnswer { state.withLock { $0.session }?.send(.answer(request.id, .failure(.refused(10)))) }
      return
    }
    if request.needsAnswer { state.withLock { $0.open[request.id] = request.central.peer } }
    let object = CBATTRequest(request, central, characteristic)
    let isRead = request.bytes == nil
    let needed: CBAttributePermissions =
      isRead ? [.readable, .readEncryptionRequired] : [.writeable, .writeEncryptionRequired]
    guard !characteristic.permissions.isDisjoint(with: needed) else {
      return respond(to: object, isRead ? .readNotPermitted : .writeNotPermitted)
    }
    guard client.delegate != nil else { return respond(to: object, .requestNotSupported) }
    client.tell { manager, delegate in
      if isRead {
        delegate.peripheralManager(manager, didReceiveRead: object)
      } else {
        delegate.peripheralManager(manager, didReceiveWrite: [object])
      }
    }
  }

  /// The one object of a central, and the characteristic that it uses; nil when that was removed.
  private func objects(_ central: ServedCentral, _ handle: Int) -> (CBCentral, CBMutableCharacteristic)? {
    let found = state.withLock { state -> (CBCentral, CBMutableCharacteristic)? in
      guard let characteristic = state.characteristics[handle] else { return nil }
      let object = state.centrals[central.peer] ?? CBCentral(central)
      state.centrals[central.peer] = object
      return (object, characteristic)
    }
    found?.0.set(packetSize: central.packetSize)
    return found
  }

  private static func error(_ failure: AccessoryError) -> CBError {
    // `CBError` has no room for the words.
    NSLog("CoreBluetooth: \(failure.message)")
    return switch failure.kind {
    case .misconfigured: CBError(.invalidParameters)
    case .busy: CBError(.outOfSpace)
    case .unsupported: CBError(.operationNotSupported)
    default: CBError(.unknown)
    }
  }
}

extension CBMutableCharacteristic {
  /// What the radio offers.
  fileprivate func served(_ handle: Int) -> ServedCharacteristic {
    var bits = UInt8(truncatingIfNeeded: properties.rawValue)
    var encryption: ServedEncryption = []
    if permissions.contains(.readEncryptionRequired) { encryption.insert(.read) }
    if permissions.contains(.writeEncryptionRequired) { encryption.insert(.write) }
    if properties.contains(.notifyEncryptionRequired) { bits |= 0x10 }
    if properties.contains(.indicateEncryptionRequired) { bits |= 0x20 }
    if !properties.isDisjoint(with: [.notifyEncryptionRequired, .indicateEncryptionRequired]) {
      encryption.insert(.notify)
    }
    let descriptors = (descriptors ?? []).compactMap { descriptor in
      descriptor.bytes.map { ServedDescriptor(descriptor.uuid.bluetooth, $0) }
    }
    return ServedCharacteristic(
      uuid.bluetooth, handle: handle, properties: bits, encryption: encryption, value: value.map { Array($0) },
      descriptors)
  }
}

/// Weak references to the client's objects.
///
/// `@unchecked Sendable`: a value is behind its manager's lock. The delegate is called on the client's queue alone.
private struct WeakPeripheralClient: @unchecked Sendable {
  weak var manager: CBPeripheralManager?
  weak var delegate: (any CBPeripheralManagerDelegate)?

  var strong: StrongPeripheralClient { StrongPeripheralClient(manager: manager, delegate: delegate) }
}

/// Strong references to the client's objects, for the time of a call.
///
/// `@unchecked Sendable`: created behind the lock, and used only by the thread that held it.
private struct StrongPeripheralClient: @unchecked Sendable {
  let manager: CBPeripheralManager?
  let delegate: (any CBPeripheralManagerDelegate)?

  func tell(_ body: (CBPeripheralManager, any CBPeripheralManagerDelegate) -> Void) {
    if let manager, let delegate { body(manager, delegate) }
  }
}
