// SPDX-License-Identifier: Apache-2.0

import AccessoryDiscovery

/// Simulates a loopback plug on a pseudo-terminal.
public typealias LoopbackSimulator = SerialSimulator<LoopbackDevice>

/// A simulated device that sends back every byte that it receives. A pseudo-terminal has no modem lines: `LoopbackPlug`
/// simulates them.
public struct LoopbackDevice: SerialDevice {
  /// The device has no events.
  public typealias News = String
  /// The device schedules nothing.
  public enum ScheduledAction: Sendable, Hashable {}

  /// The serial number.
  public let serialNumber: String

  /// Creates a loopback plug with this serial number.
  public init(serialNumber: String = "LOOP0001") { self.serialNumber = serialNumber }

  /// There is no driver, because the bytes have no protocol.
  public static var driver: String { "" }

  /// Nil: bytes are handled as they arrive.
  public var pause: Duration? { nil }

  /// The announcement for other programs.
  public var announcement: Announcement {
    Announcement(path: "", driver: Self.driver, name: "Loopback plug", model: "LOOPBACK", serial: serialNumber)
  }

  /// Does nothing: the device has no state.
  public mutating func start() -> [SerialEffect<Self>] { [] }

  /// Sends the bytes back.
  public mutating func take(_ bytes: [UInt8]) -> [SerialEffect<Self>] { [.send(bytes)] }

  /// Never called: no action exists.
  public mutating func perform(_ action: ScheduledAction) -> [SerialEffect<Self>] {}
}
