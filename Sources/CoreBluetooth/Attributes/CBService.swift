// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Foundation

/// A service of a device: a group of characteristics.
///
/// `@unchecked Sendable`: what changes is behind a lock, which is never held while another one is taken. The weak reference is
/// set before others have the object, and reading one is safe on any thread.
open class CBService: CBAttribute, @unchecked Sendable {
  private struct State {
    var includedServices: [CBService]?
    var characteristics: [CBCharacteristic]?
  }

  private let contents = Locked(State())
  private nonisolated(unsafe) weak var owner: CBPeripheral?
  /// Whether it is a primary service. Other services are only included in services.
  public let isPrimary: Bool

  init(_ uuid: CBUUID, _ place: AttributePlace?, isPrimary: Bool, of peripheral: CBPeripheral?) {
    self.isPrimary = isPrimary
    owner = peripheral
    super.init(uuid, place)
  }

  /// The device of this service; nil if that object was released, and for a service that this program offers.
  open var peripheral: CBPeripheral? { owner }

  /// The services in it that were discovered; nil before `discoverIncludedServices`.
  open var includedServices: [CBService]? { contents.withLock { $0.includedServices } }

  /// The characteristics that were discovered, in the order of the device; nil before `discoverCharacteristics`.
  open var characteristics: [CBCharacteristic]? { contents.withLock { $0.characteristics } }

  /// For a log, in the form of Apple's.
  open override var description: String { words(["isPrimary = " + (isPrimary ? "YES" : "NO"), "UUID = \(uuid)"]) }

  func set(included services: [CBService]?) { contents.withLock { $0.includedServices = services } }

  func set(_ characteristics: [CBCharacteristic]?) { contents.withLock { $0.characteristics = characteristics } }
}

/// A service that this program offers, for `CBPeripheralManager`.
///
/// `@unchecked Sendable`: it stores nothing that its superclass doesn't.
open class CBMutableService: CBService, @unchecked Sendable {
  /// A service without contents.
  public init(type UUID: CBUUID, primary isPrimary: Bool) { super.init(UUID, nil, isPrimary: isPrimary, of: nil) }

  /// The services in it.
  open override var includedServices: [CBService]? {
    get { super.includedServices }
    set { set(included: newValue) }
  }

  /// Its characteristics.
  open override var characteristics: [CBCharacteristic]? {
    get { super.characteristics }
    set { set(newValue) }
  }
}
