// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Foundation

/// A characteristic of a service: a value that is read, written, or sent by the device.
///
/// `@unchecked Sendable`: what changes is behind a lock, which is never held while another one is taken. The weak reference is
/// set before others have the object, and reading one is safe on any thread.
open class CBCharacteristic: CBAttribute, @unchecked Sendable {
  struct State {
    var properties: CBCharacteristicProperties
    var permissions: CBAttributePermissions = []
    var value: Data?
    var descriptors: [CBDescriptor]?
    var isNotifying = false
    var subscribed: [CBCentral] = []
  }

  fileprivate let contents: Locked<State>
  private nonisolated(unsafe) weak var owner: CBService?

  init(
    _ uuid: CBUUID, _ place: AttributePlace?, _ properties: CBCharacteristicProperties, value: Data? = nil,
    permissions: CBAttributePermissions = [], of service: CBService?
  ) {
    contents = Locked(State(properties: properties, permissions: permissions, value: value))
    owner = service
    super.init(uuid, place)
  }

  /// The service of this characteristic; nil if that object was released, and for a characteristic that this program
  /// offers.
  open var service: CBService? { owner }

  /// What can be done with it.
  open var properties: CBCharacteristicProperties { contents.withLock { $0.properties } }

  /// The value that was read or sent last; nil before. During a call of `didUpdateValueFor` it is the reported value.
  open var value: Data? { contents.withLock { $0.value } }

  /// The descriptors that were discovered; nil before `discoverDescriptors`.
  open var descriptors: [CBDescriptor]? { contents.withLock { $0.descriptors } }

  /// Whether the device sends its value to this program.
  open var isNotifying: Bool { contents.withLock { $0.isNotifying } }

  /// Always false: no program can switch the broadcasts of a value on.
  @available(*, deprecated, message: "it is always false")
  open var isBroadcasted: Bool { false }

  /// For a log, in the form of Apple's.
  open override var description: String {
    let state = contents.withLock { $0 }
    return words([
      "UUID = \(uuid)", "properties = 0x" + String(state.properties.rawValue, radix: 16, uppercase: true),
      "value = " + Self.words(state.value), "notifying = " + (state.isNotifying ? "YES" : "NO"),
    ])
  }

  func set(_ value: Data?) { contents.withLock { $0.value = value } }

  func set(_ descriptors: [CBDescriptor]?) { contents.withLock { $0.descriptors = descriptors } }

  func set(isNotifying: Bool) { contents.withLock { $0.isNotifying = isNotifying } }
}

/// A characteristic that this program offers, for `CBPeripheralManager`.
///
/// `@unchecked Sendable`: it stores nothing that its superclass doesn't.
open class CBMutableCharacteristic: CBCharacteristic, @unchecked Sendable {
  /// A characteristic. With a value it is constant and can only be read; without a value, each read is reported to the
  /// delegate.
  public init(
    type UUID: CBUUID, properties: CBCharacteristicProperties, value: Data?, permissions: CBAttributePermissions
  ) {
    super.init(UUID, nil, properties, value: value, permissions: permissions, of: nil)
  }

  /// The permissions of other devices.
  open var permissions: CBAttributePermissions {
    get { contents.withLock { $0.permissions } }
    set { contents.withLock { $0.permissions = newValue } }
  }

  /// The devices that it is sent to.
  open var subscribedCentrals: [CBCentral]? { contents.withLock { $0.subscribed } }

  func set(subscribed centrals: [CBCentral]) {
    // Those that were there before are let go outside of the lock.
    let before = contents.withLock { contents in
      defer { contents.subscribed = centrals }
      return contents.subscribed
    }
    _ = consume before
  }

  /// What can be done with it.
  open override var properties: CBCharacteristicProperties {
    get { super.properties }
    set { contents.withLock { $0.properties = newValue } }
  }

  /// Its value.
  open override var value: Data? {
    get { super.value }
    set { set(newValue) }
  }

  /// Its descriptors.
  open override var descriptors: [CBDescriptor]? {
    get { super.descriptors }
    set { set(newValue) }
  }
}
