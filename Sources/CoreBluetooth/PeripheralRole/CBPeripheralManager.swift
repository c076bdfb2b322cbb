// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation

/// Offers services to other devices.
///
/// All members may be used from any thread. The delegate is called on the queue that is given, one call at a time and in order.
///
/// `@unchecked Sendable`: its only stored property is a constant that is `Sendable`. A class that others may inherit from can't be
/// checked.
open class CBPeripheralManager: CBManager, @unchecked Sendable {
  private let core: PeripheralCore

  /// A manager without a delegate.
  public convenience init() { self.init(delegate: nil, queue: nil) }

  /// A manager that calls `delegate` on `queue`; nil means the main queue.
  public convenience init(delegate: (any CBPeripheralManagerDelegate)?, queue: DispatchQueue?) {
    self.init(delegate: delegate, queue: queue, options: nil)
  }

  /// A manager that calls `delegate` on `queue`; nil means the main queue. The options are without effect on Linux.
  public init(
    delegate: (any CBPeripheralManagerDelegate)?, queue: DispatchQueue?, options: [String: Any]? = nil
  ) {
    core = PeripheralCore(queue)
    super.init(named: ())
    core.set(delegate)
    core.begin(for: self)
  }

  deinit { core.close() }

  /// Always authorized: on Linux the user isn't asked. The older form of `authorization`.
  open class func authorizationStatus() -> CBPeripheralManagerAuthorizationStatus { .authorized }

  /// Whom to tell; it isn't kept.
  open weak var delegate: (any CBPeripheralManagerDelegate)? {
    get { core.delegate }
    set { core.set(newValue) }
  }

  /// Whether Bluetooth can be used now. Below `poweredOff` all services are gone, and must be added again.
  open override var state: CBManagerState { core.radioState }

  /// Whether this computer advertises for this manager.
  open var isAdvertising: Bool { core.isAdvertising }

  /// Tells all devices in reach the local name and service UUIDs of `advertisementData`, until `stopAdvertising`. Other keys are
  /// left out. Without a name, BlueZ advertises none.
  open func startAdvertising(_ advertisementData: [String: Any]?) { core.advertise(advertisementData) }

  /// Ends it.
  open func stopAdvertising() { core.stopAdvertising() }

  /// Does nothing: BlueZ chooses how often a central that is connected listens.
  open func setDesiredConnectionLatency(
    _ latency: CBPeripheralManagerConnectionLatency, for central: CBCentral
  ) {}

  /// Offers a service; the answer is `didAdd`. What is changed in the service later has no effect until it is removed and added
  /// again. A characteristic with a value can only be read; included services aren't supported.
  open func add(_ service: CBMutableService) { core.add(service) }

  /// Offers a service no longer.
  open func remove(_ service: CBMutableService) { core.remove(service) }

  /// Offers no service any more.
  open func removeAllServices() { core.removeAll() }

  /// Answers a request, once. A read's answer is the request's `value`. bluetoothd passes on the results 2, 3, 6, 7, 8 and 13;
  /// of others it makes `unlikelyError`. Writes to a characteristic that also takes writes without a response it has answered.
  open func respond(to request: CBATTRequest, withResult result: CBATTError.Code) { core.respond(to: request, result) }

  /// Sends a value to those who have subscribed to the characteristic. Returns false when too many values wait: then nothing is
  /// sent, and `peripheralManagerIsReady(toUpdateSubscribers:)` tells when there is room. BlueZ sends to all subscribers, also
  /// where only some are named.
  open func updateValue(
    _ value: Data, for characteristic: CBMutableCharacteristic, onSubscribedCentrals centrals: [CBCentral]?
  ) -> Bool {
    core.update(value, characteristic, centrals)
  }

  /// Isn't supported: the delegate is told so.
  open func publishL2CAPChannel(withEncryption encryptionRequired: Bool) { core.refuseChannel() }

  /// Does nothing.
  open func unpublishL2CAPChannel(_ PSM: CBL2CAPPSM) {}
}

/// How often a central that is connected listens.
public enum CBPeripheralManagerConnectionLatency: Int, Sendable {
  /// Often.
  case low = 0
  /// Neither often nor rarely.
  case medium
  /// Rarely.
  case high
}

/// What answers centrals.
public protocol CBPeripheralManagerDelegate: NSObjectProtocol {
  /// Whether Bluetooth can be used.
  func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager)
  /// Never called on Linux.
  func peripheralManager(_ peripheral: CBPeripheralManager, willRestoreState dict: [String: Any])
  /// Advertising has begun, or the error says why not.
  func peripheralManagerDidStartAdvertising(_ peripheral: CBPeripheralManager, error: (any Error)?)
  /// A service is there, or the error says why not.
  func peripheralManager(_ peripheral: CBPeripheralManager, didAdd service: CBService, error: (any Error)?)
  /// A central wants a value sent.
  func peripheralManager(
    _ peripheral: CBPeripheralManager, central: CBCentral, didSubscribeTo characteristic: CBCharacteristic)
  /// A central no longer wants a value sent.
  func peripheralManager(
    _ peripheral: CBPeripheralManager, central: CBCentral, didUnsubscribeFrom characteristic: CBCharacteristic)
  /// A central reads.
  func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest)
  /// A central writes.
  func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveWrite requests: [CBATTRequest])
  /// There is room for values again.
  func peripheralManagerIsReady(toUpdateSubscribers peripheral: CBPeripheralManager)
  /// A channel is offered, or the error says why not.
  func peripheralManager(_ peripheral: CBPeripheralManager, didPublishL2CAPChannel PSM: CBL2CAPPSM, error: (any Error)?)
  /// A channel isn't offered any more.
  func peripheralManager(
    _ peripheral: CBPeripheralManager, didUnpublishL2CAPChannel PSM: CBL2CAPPSM, error: (any Error)?)
  /// A central has opened a channel.
  func peripheralManager(_ peripheral: CBPeripheralManager, didOpen channel: CBL2CAPChannel?, error: (any Error)?)
}

extension CBPeripheralManagerDelegate {
  fileprivate func missed(_ method: StaticString = #function) {
    InheritedDelegate.calledDefault(of: method, self) { $0 is any CBPeripheralManagerDelegate.Type }
  }

  /// Does nothing.
  public func peripheralManager(_ peripheral: CBPeripheralManager, willRestoreState dict: [String: Any]) {}
  /// Does nothing.
  public func peripheralManagerDidStartAdvertising(_ peripheral: CBPeripheralManager, error: (any Error)?) { missed() }
  /// Does nothing.
  public func peripheralManager(_ peripheral: CBPeripheralManager, didAdd service: CBService, error: (any Error)?) {
    missed()
  }
  /// Does nothing.
  public func peripheralManager(
    _ peripheral: CBPeripheralManager, central: CBCentral, didSubscribeTo characteristic: CBCharacteristic
  ) { missed() }
  /// Does nothing.
  public func peripheralManager(
    _ peripheral: CBPeripheralManager, central: CBCentral, didUnsubscribeFrom characteristic: CBCharacteristic
  ) { missed() }
  /// Refuses it.
  public func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest) {
    missed()
    peripheral.respond(to: request, withResult: .requestNotSupported)
  }
  /// Refuses them.
  public func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveWrite requests: [CBATTRequest]) {
    missed()
    for request in requests { peripheral.respond(to: request, withResult: .requestNotSupported) }
  }
  /// Does nothing.
  public func peripheralManagerIsReady(toUpdateSubscribers peripheral: CBPeripheralManager) { missed() }
  /// Does nothing.
  public func peripheralManager(
    _ peripheral: CBPeripheralManager, didPublishL2CAPChannel PSM: CBL2CAPPSM, error: (any Error)?
  ) {}
  /// Does nothing.
  public func peripheralManager(
    _ peripheral: CBPeripheralManager, didUnpublishL2CAPChannel PSM: CBL2CAPPSM, error: (any Error)?
  ) {}
  /// Does nothing.
  public func peripheralManager(
    _ peripheral: CBPeripheralManager, didOpen channel: CBL2CAPChannel?, error: (any Error)?
  ) {}
}
