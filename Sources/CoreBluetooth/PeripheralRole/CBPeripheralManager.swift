// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Dispatch
import Foundation

/// Offers services to other devices. **It isn't supported on Linux yet**: its state is always `unsupported`, which the delegate is
/// told once, and its calls are logged and do nothing.
///
/// `@unchecked Sendable`: what changes is behind a lock. A class that others may inherit from can't be checked.
open class CBPeripheralManager: CBManager, @unchecked Sendable {
  private let client = Locked(WeakPeripheralManagerClient())

  /// A manager without a delegate.
  public convenience init() { self.init(delegate: nil, queue: nil, options: nil) }

  /// A manager that calls `delegate` on `queue`; nil means the main queue.
  public init(
    delegate: (any CBPeripheralManagerDelegate)?, queue: DispatchQueue?, options: [String: Any]? = nil
  ) {
    super.init(named: ())
    self.delegate = delegate
    (queue ?? .main).async { [weak self] in
      guard let self else { return }
      self.delegate?.peripheralManagerDidUpdateState(self)
    }
  }

  /// Whom to tell; it isn't kept.
  open weak var delegate: (any CBPeripheralManagerDelegate)? {
    get { client.withLock { PeripheralManagerClient(delegate: $0.delegate) }.delegate }
    set {
      let new = PeripheralManagerClient(delegate: newValue)
      client.withLock { $0.delegate = new.delegate }
    }
  }

  /// `unsupported`.
  open override var state: CBManagerState { .unsupported }

  /// Always false.
  open var isAdvertising: Bool { false }

  /// Does nothing.
  open func startAdvertising(_ advertisementData: [String: Any]?) { refuse("startAdvertising(_:)") }

  /// Does nothing.
  open func stopAdvertising() {}

  /// Does nothing.
  open func setDesiredConnectionLatency(
    _ latency: CBPeripheralManagerConnectionLatency, for central: CBCentral
  ) {
    refuse("setDesiredConnectionLatency(_:for:)")
  }

  /// Does nothing.
  open func add(_ service: CBMutableService) { refuse("add(_:)") }

  /// Does nothing.
  open func remove(_ service: CBMutableService) {}

  /// Does nothing.
  open func removeAllServices() {}

  /// Does nothing.
  open func respond(to request: CBATTRequest, withResult result: CBATTError.Code) { refuse("respond(to:withResult:)") }

  /// Does nothing, and returns false.
  open func updateValue(
    _ value: Data, for characteristic: CBMutableCharacteristic, onSubscribedCentrals centrals: [CBCentral]?
  ) -> Bool {
    refuse("updateValue(_:for:onSubscribedCentrals:)")
    return false
  }

  /// Does nothing.
  open func publishL2CAPChannel(withEncryption encryptionRequired: Bool) {
    refuse("publishL2CAPChannel(withEncryption:)")
  }

  /// Does nothing.
  open func unpublishL2CAPChannel(_ PSM: CBL2CAPPSM) {}

  private func refuse(_ call: String) {
    Misuse.log("CBPeripheralManager.\(call): the peripheral role isn't supported on Linux yet")
  }
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

/// A weak reference to a delegate.
///
/// `@unchecked Sendable`: behind its manager's lock.
private struct WeakPeripheralManagerClient: @unchecked Sendable {
  weak var delegate: (any CBPeripheralManagerDelegate)?
}

/// A delegate, for the time of a call.
///
/// `@unchecked Sendable`: passed from the lock to the thread that held it, or back.
private struct PeripheralManagerClient: @unchecked Sendable {
  let delegate: (any CBPeripheralManagerDelegate)?
}

/// What answers centrals. Only the first call is ever made on Linux, once.
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
  /// Does nothing.
  public func peripheralManager(_ peripheral: CBPeripheralManager, willRestoreState dict: [String: Any]) {}
  /// Does nothing.
  public func peripheralManagerDidStartAdvertising(_ peripheral: CBPeripheralManager, error: (any Error)?) {}
  /// Does nothing.
  public func peripheralManager(_ peripheral: CBPeripheralManager, didAdd service: CBService, error: (any Error)?) {}
  /// Does nothing.
  public func peripheralManager(
    _ peripheral: CBPeripheralManager, central: CBCentral, didSubscribeTo characteristic: CBCharacteristic
  ) {}
  /// Does nothing.
  public func peripheralManager(
    _ peripheral: CBPeripheralManager, central: CBCentral, didUnsubscribeFrom characteristic: CBCharacteristic
  ) {}
  /// Does nothing.
  public func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest) {}
  /// Does nothing.
  public func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveWrite requests: [CBATTRequest]) {}
  /// Does nothing.
  public func peripheralManagerIsReady(toUpdateSubscribers peripheral: CBPeripheralManager) {}
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
