// SPDX-License-Identifier: Apache-2.0

/// A weak reference to a peripheral.
struct WeakPeripheral: Sendable {
  weak var object: CBPeripheral?
}

/// Weak references to the client's objects.
///
/// `@unchecked Sendable`: a value is behind its manager's lock. The delegate is called on the client's queue alone.
struct WeakClient: @unchecked Sendable {
  weak var manager: CBCentralManager?
  weak var delegate: (any CBCentralManagerDelegate)?

  var strong: StrongClient { StrongClient(manager: manager, delegate: delegate) }
}

/// Strong references to the client's objects, for the time of a call.
///
/// `@unchecked Sendable`: created behind the lock, and used only by the thread that held it.
struct StrongClient: @unchecked Sendable {
  let manager: CBCentralManager?
  let delegate: (any CBCentralManagerDelegate)?

  func tell(_ body: (CBCentralManager, any CBCentralManagerDelegate) -> Void) {
    if let manager, let delegate { body(manager, delegate) }
  }
}
