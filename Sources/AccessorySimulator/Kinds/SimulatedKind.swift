// SPDX-License-Identifier: Apache-2.0

import AccessoryBluetooth
import AccessoryCore

/// A kind of simulated accessory, as `simulate` offers it: its options, what they set, and what the simulator tells.
package protocol SimulatedKind: CommandSettings {
  /// The actor that simulates it.
  associatedtype Hosted: Simulator

  /// The word behind `simulate`.
  static var name: String { get }
  /// What `simulate` does with it: a sentence that begins with "Simulates".
  static var abstract: String { get }
  /// More about it, and examples.
  static var discussion: String { get }
  /// The beginning of serial numbers that the user doesn't choose, and with how many digits the number behind it is written.
  static var serialNumbers: (prefix: String, digits: Int) { get }
  /// What SIGUSR1 does; nil for nothing.
  static var onSignal: (@Sendable (Hosted) async -> Void)? { get }

  /// The serial number that the user has chosen; nil for the first free one.
  var serialNumber: String? { get }
  /// Whether it is a real USB device, so that it can't have another one's serial number.
  var isUSBDevice: Bool { get }
  /// The path of a link to its terminal; nil for none.
  var link: String? { get }
  /// The seed that the user has chosen; nil for a random one.
  var seed: UInt64? { get }
  /// Whether an unplug isn't its end.
  var comesBack: Bool { get }
  /// Whether a person needs the seed to repeat what happens.
  var isRandom: Bool { get }

  /// The simulator with these settings, not plugged in yet.
  func simulator(_ start: SimulatorStart) -> Hosted
  /// An event for people and programs; nil for none.
  static func news(_ event: Hosted.Event) -> SimulatorNews?
}

/// What a simulator is told beside its settings.
package struct SimulatorStart: Sendable {
  package let serialNumber: String
  /// The seed of its random numbers.
  package let seed: UInt64
  /// The folder of its announcement; nil means the user's.
  package let directory: String?

  package init(serialNumber: String, seed: UInt64, directory: String? = nil) {
    (self.serialNumber, self.seed, self.directory) = (serialNumber, seed, directory)
  }
}

extension SimulatedKind {
  /// The default: SIGUSR1 ends the program.
  package static var onSignal: (@Sendable (Hosted) async -> Void)? { nil }
  /// The default: no USB device.
  package var isUSBDevice: Bool { false }
  /// The default: nothing that a person would repeat.
  package var isRandom: Bool { false }
}

/// A kind that a `SerialSimulator` runs.
package protocol SerialKind: SimulatedKind where Hosted == SerialSimulator<Device> {
  associatedtype Device: SerialDevice

  /// What SIGUSR1 triggers; nil for nothing.
  static var signal: Device.ScheduledAction? { get }
  /// The form of its serial port over Bluetooth.
  static var uart: GATTUART { get }
  /// The settings of its line.
  var line: SimulatedLine { get }

  /// The accessory with these settings.
  func device(_ start: SimulatorStart) -> Device
  /// An event of the accessory for people and programs; nil for none.
  static func told(_ news: Device.News) -> SimulatorNews?
}

extension SerialKind {
  package static var signal: Device.ScheduledAction? { nil }
  package static var uart: GATTUART { .hm10 }
  package static var onSignal: (@Sendable (SerialSimulator<Device>) async -> Void)? {
    guard let action = signal else { return nil }
    return { await $0.perform(action) }
  }

  package var link: String? { line.link }
  package var seed: UInt64? { line.seed }
  package var comesBack: Bool { line.faults.replug != nil }

  package func simulator(_ start: SimulatorStart) -> SerialSimulator<Device> {
    line.simulator(device(start), start, as: Self.uart)
  }

  package static func news(_ event: SerialSimulator<Device>.Event) -> SimulatorNews? { .of(event, told) }
}

extension SimulatorNews {
  /// An event of a simulator on a line; `told` is for those of its accessory.
  package static func of<Device>(
    _ event: SerialSimulator<Device>.Event, _ told: (Device.News) -> SimulatorNews?
  ) -> SimulatorNews? {
    switch event {
    case .pluggedIn(let path): .pluggedIn(path)
    case .unplugged: .unplugged
    case .news(let news): told(news)
    }
  }
}
