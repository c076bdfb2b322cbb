// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// The radio of a computer, as the central role of Bluetooth Low Energy uses it: BlueZ, or a script in tests.
package protocol Radio: Sendable {
  /// Begins a session. `tell` is called with each event, one call at a time, in order, on any thread, and must not
  /// block. The first event, which comes soon, is a `state`. Soon after the session is closed, the calls end.
  func begin(_ tell: @escaping @Sendable (RadioEvent) -> Void) -> any RadioSession

  /// Begins a session in the peripheral role. `tell` is called like that of `begin`.
  func beginServing(_ tell: @escaping @Sendable (ServingEvent) -> Void) -> any ServingSession
}

/// A session with a radio. Its connections and its search end with it.
package protocol RadioSession: Sendable {
  /// Performs a command. Commands are performed in order; this returns at once.
  func send(_ command: RadioCommand)

  /// The devices that are known now: found since the session began, connected, or known to the system.
  var known: [RadioKnown] { get }

  /// Ends the search and the connections that this session has made. Returns at once.
  func close()
}

/// A connection, or an attempt to connect. Each has a unique number.
package struct RadioLink: Sendable, Hashable {
  package let peer: RadioPeer
  package let number: Int
  package init(_ peer: RadioPeer, _ number: Int) { (self.peer, self.number) = (peer, number) }
}

/// A device that is known.
package struct RadioKnown: Sendable, Equatable {
  package var peer: RadioPeer
  package var name: String?
  /// Whether this program or another one has connected it.
  package var isConnected: Bool
  /// The services that it advertises or has.
  package var services: [BluetoothUUID]

  package init(_ peer: RadioPeer, name: String?, isConnected: Bool = false, services: [BluetoothUUID] = []) {
    (self.peer, self.name, self.isConnected, self.services) = (peer, name, isConnected, services)
  }
}

/// A command for a radio.
package enum RadioCommand: Sendable, Equatable {
  /// Starts or replaces the search; nil ends it.
  case search(RadioSearch?)
  /// Connects, without a time limit. The answer is `connected` or `ended`.
  case connect(RadioLink)
  /// Ends a connection or an attempt. The answer is `ended` without an error, or nothing if it has already ended.
  case disconnect(RadioLink)
  /// Asks for the services; the answer is `table`.
  case discover(RadioLink)
  /// Reads a characteristic or a descriptor; the answer is `read`.
  case read(RadioLink, handle: Int)
  /// Writes a characteristic or a descriptor; the answer is `written`.
  case write(RadioLink, handle: Int, [UInt8])
  /// Writes a characteristic without a response of the device; `sent` reports that the value is on its way.
  case writeCommand(RadioLink, handle: Int, [UInt8])
  /// Turns notifications of a characteristic on or off; the answer is `notifying`.
  case notify(RadioLink, handle: Int, Bool)
  /// Asks for the strength of the signal; the answer is `strength`.
  case measure(RadioLink)
  /// Holds back received values, or passes them on again.
  case hold(Bool)
}

/// A search.
package struct RadioSearch: Sendable, Equatable {
  /// Only devices that advertise one of these services; nil for all.
  package var services: [BluetoothUUID]?
  /// Whether each advertisement is wanted.
  package var wantsAll: Bool

  package init(_ services: [BluetoothUUID]?, wantsAll: Bool = false) {
    (self.services, self.wantsAll) = (services, wantsAll)
  }

  /// Whether the search includes a device that advertises these services.
  package func fits(_ told: some Collection<BluetoothUUID>) -> Bool {
    services.map { wanted in told.contains(where: wanted.contains) } ?? true
  }
}

/// Whether a radio can be used.
package enum RadioState: Sendable, Equatable {
  case resetting, unsupported, unauthorized, off, on
}

/// An event of a radio. Events of a connection have its number; there are none after `ended`.
package enum RadioEvent: Sendable, Equatable {
  /// The state of the radio. In any state but `on`, the search and all connections have ended; no other events report that.
  case state(RadioState)
  /// A device was received.
  case found(RadioAdvertisement)
  /// The name of a device has changed.
  case named(RadioPeer, String?)
  /// A connection is made. Its largest packet has this many bytes, 23…517.
  case connected(RadioLink, packetSize: Int)
  /// The size of the largest packet has changed.
  case packetSize(RadioLink, Int)
  /// A connection has ended or can't be made. The error is nil if the client asked for the end.
  case ended(RadioLink, RadioFailure?)
  /// The services of the device, in the order of their handles.
  case table(RadioLink, Result<[RadioService], RadioFailure>)
  /// The device has other services now.
  case tableChanged(RadioLink, [RadioService])
  case read(RadioLink, handle: Int, Result<[UInt8], RadioFailure>)
  /// The result of a write.
  case written(RadioLink, handle: Int, RadioFailure?)
  /// A write without a response is on its way.
  case sent(RadioLink)
  /// Whether notifications are on now.
  case notifying(RadioLink, handle: Int, Result<Bool, RadioFailure>)
  /// The device has sent a value.
  case value(RadioLink, handle: Int, [UInt8])
  /// The strength of the signal, in dBm.
  case strength(RadioLink, Result<Int, RadioFailure>)
}

/// The data that a device advertises.
package struct RadioAdvertisement: Sendable, Equatable {
  package var peer: RadioPeer
  package var name: String?
  /// The strength of the signal, in dBm.
  package var strength: Int
  package var services: [BluetoothUUID]
  /// Manufacturer data, by the number of the company.
  package var manufacturerData: [UInt16: [UInt8]]
  package var serviceData: [BluetoothUUID: [UInt8]]
  /// The transmission power in dBm.
  package var power: Int?
  package var isConnectable: Bool

  package init(
    _ peer: RadioPeer, name: String? = nil, strength: Int, services: [BluetoothUUID] = [],
    manufacturerData: [UInt16: [UInt8]] = [:], serviceData: [BluetoothUUID: [UInt8]] = [:], power: Int? = nil,
    isConnectable: Bool = true
  ) {
    (self.peer, self.name, self.strength, self.services) = (peer, name, strength, services)
    (self.manufacturerData, self.serviceData, self.power) = (manufacturerData, serviceData, power)
    self.isConnectable = isConnectable
  }
}
