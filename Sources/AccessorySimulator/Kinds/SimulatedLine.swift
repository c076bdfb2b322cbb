// SPDX-License-Identifier: Apache-2.0

import AccessoryBluetooth
import AccessoryCore

/// What is chosen of a simulated accessory's line: a link to its terminal, or its name on the air, and faults.
package struct SimulatedLine: CommandSettings {
  package var link: String?
  package var faults = Faults()
  package var ble: String?
  package var uart: GATTUART?
  package var seed: UInt64?

  package init() {}

  package static let options: [CommandOption<Self>] = [
    .path("link", "Keep a link to the terminal at this path.", \.link),
    .time("delay", "Delay every reply by this time.", \.faults.delay).rare,
    .share("drop", "Share of what it sends that is lost, 0 to 1.", \.faults.drop).rare,
    .share("corrupt", "Share of what it sends in which a bit is changed, 0 to 1.", \.faults.corrupt).rare,
    .text(
      "ble", "name", "Be on the air: a serial port over Bluetooth with this name, and no terminal.", \.ble,
      0...Int.max
    ).rare,
    .word("uart", "The form of the serial port of --ble: hm10, nus or bluno.", \.uart).rare,
    .moment(
      "unplug-after", "When to unplug: after this time, or in the middle of the reply to this request.",
      \.faults.unplug
    ).rare,
    .time("replug-after", "Plug in again this long after an unplug.", \.faults.replug).rare,
    .natural("seed", "number", "The seed of an earlier run, to repeat its random faults.", \.seed).rare,
  ]

  package var problem: String? {
    if let refusal = ble.flatMap({ GATTUARTServer.Settings($0).refusal }) { return "--ble: \(refusal)" }
    if ble == nil, uart != nil { return "--uart needs --ble NAME" }
    return ble != nil && link != nil ? "--ble and --link can't be used together: there is no terminal" : nil
  }

  /// The simulator of an accessory on this line. `port` is what real ones have on the air, `told` the service that they advertise where it
  /// is another one, `form` the form of their serial port where `port` doesn't say that. `usb` is the USB device that it is, in the place
  /// of a terminal.
  package func simulator<Device: SerialDevice>(
    _ device: Device, _ start: SimulatorStart, onAir port: GATTSettings = GATTSettings(),
    telling told: BluetoothUUID? = nil, as form: GATTUART = .hm10, onUSB usb: SimulatedUSBIdentity? = nil
  ) -> SerialSimulator<Device> {
    var configuration = SerialSimulator<Device>.Configuration(device, seed: start.seed)
    (configuration.link, configuration.faults) = (link, faults)
    configuration.announcementDirectory = start.directory
    if let usb { configuration.connection = .usb(usb) }
    if let ble {
      var own = uart == nil ? GATTUARTServer.Settings(ble, port) : nil
      own?.told = told
      configuration.connection = .bluetooth(own ?? GATTUARTServer.Settings(ble, uart ?? form))
    }
    return SerialSimulator(configuration)
  }
}

extension GATTUART: OptionWord {}

extension CommandOption where Settings: CommandSettings {
  /// When a fault happens, or never.
  package static func moment(_ name: String, _ help: String, _ path: Path<Faults.Moment?>) -> Self {
    Self(name, "when", help, .moment, path) { value in value.time.map { .after($0) } ?? value.whole.map { .request($0) }
    }
  }
}
