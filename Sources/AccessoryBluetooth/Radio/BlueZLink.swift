// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import SystemPackage

/// A connection to a device, or the attempt to make one. Only `BlueZCentral` uses it.
final class BlueZLink {
  let link: RadioLink
  /// The path of the device's object.
  let path: String
  var isMade = false
  /// Whether this program has made the connection, or tries to, and so must end it.
  var isOurs = false
  /// Whether BlueZ has forgotten the device.
  var isSearchedFor = false
  var connecting: Task<Void, Never>?
  /// The services that were reported last, and the paths of their attributes by handle.
  var table: [RadioService]?
  var places: [Int: String] = [:]
  var placesByPath: Set<String> = []
  var looksAgain: TimerToken?
  var isResolved = false
  /// The client's requests, and whether one is being performed.
  var operations: [RadioCommand] = []
  var isBusy = false
  /// How many writes without a response wait for bluetoothd, and how many it has accepted since the device last answered.
  var commands = (waiting: 0, unconfirmed: 0)
  /// The sockets of notifications by handle.
  var sockets: [Int: NotificationSocket] = [:]
  /// The characteristics whose values come as signals of the bus, by path.
  var signals: [String: Int] = [:]
  /// The values from signals while such a characteristic is read.
  var reading: (path: String, values: [[UInt8]])?
  /// The number of values that came by signals although the client had paused: signals have no flow control.
  var unheld = 0
  /// Whether the client gets notifications of the battery, which bluetoothd reads by itself.
  var tellsBattery = false
  var percent: Int?

  init(_ link: RadioLink, path: String) { (self.link, self.path) = (link, path) }
}

/// A socket on which bluetoothd passes a characteristic's notifications, one a packet.
final class NotificationSocket: EventHandler {
  let descriptor: FileDescriptor
  let link: RadioLink
  let handle: Int
  private weak let central: BlueZCentral?
  /// Its registration with the I/O thread.
  let token = Locked<EventToken?>(nil)

  init(_ descriptor: FileDescriptor, _ link: RadioLink, handle: Int, _ central: BlueZCentral) {
    (self.descriptor, self.link, self.handle, self.central) = (descriptor, link, handle, central)
  }

  /// The I/O thread calls this when packets wait, or the other end is closed.
  func ready(_ readiness: Readiness) {
    central?.enter(self) { central, socket in
      central.read(socket, hasHungUp: !readiness.isDisjoint(with: [.hangUp, .error]))
    }
  }
}
