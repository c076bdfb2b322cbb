// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import AccessoryIO
import CommandOutput
import Console
import Dispatch
import Glibc

/// Runs a user's command for each event. The facts are in environment variables ACCESSORY_…, and never in the command's
/// arguments.
actor EventCommand {
  /// An event.
  struct ReportedEvent: Sendable {
    let event: String
    let device: Device
    var battery: BatteryReading?
    var alarm: (alarm: AccessoryAlarm, state: AlarmChange)?
  }

  private let words: [String]
  private var running = 0
  /// The environment variables of events that wait, by accessories. Their texts are cut, so each has a bounded size.
  private var waiting = FairQueue<String, [String: String]>(limit: waitingLimit)
  private var hasDropped = false

  /// The limit of commands that run at the same time.
  static let runningLimit = 8
  /// The limit of events that wait for a running command to end. Beyond it the oldest of the accessory with most are dropped.
  static let waitingLimit = 256
  /// The limit of a text of the device, in Unicode scalars.
  static let textLimit = 256

  init(_ words: [String]) { self.words = words }

  /// Runs the command for an event, at once or when fewer commands run. Doesn't wait for its end.
  func run(_ event: ReportedEvent) {
    guard running < Self.runningLimit else {
      guard waiting.append(Self.variables(event), of: event.device.id), !hasDropped else { return }
      hasDropped = true
      return Output.note("\(words[0]): \(Self.runningLimit) runs of it have not ended yet: older events are skipped")
    }
    start(Self.variables(event))
  }

  private func start(_ variables: [String: String]) {
    do throws(AccessoryError) {
      let process = try ChildProgram.start(words[0], words, extra: variables)
      running += 1
      // `waitpid` blocks a thread; at most `runningLimit` threads are blocked.
      DispatchQueue(label: "accessory.exec").async {
        let status = ChildProgram.wait(for: process)
        Task { await self.ended(status) }
      }
    } catch {
      Output.note(SafeText.escape("\(words[0]) was not run: \(error.message)", limit: 500))
    }
  }

  private func ended(_ status: CInt) {
    running -= 1
    if status != 0 {
      let how = status > 0 ? "exit status \(status)" : "signal \(-status)"
      Output.note("\(SafeText.escape(words[0])) ended with \(how)")
    }
    // A command that can't be started takes no slot, so the loop continues with the next event.
    while running < Self.runningLimit, let next = waiting.popFirst() { start(next) }
  }

  /// The environment variables for an event. Texts of the device are escaped and cut.
  static func variables(_ event: ReportedEvent) -> [String: String] {
    let device = event.device
    var variables = [
      "ACCESSORY_EVENT": event.event, "ACCESSORY_ID": device.id, "ACCESSORY_PATH": device.address.description,
      "ACCESSORY_SOURCE": device.source.rawValue,
    ]
    variables["ACCESSORY_LINK"] = device.link ?? device.links.first
    variables["ACCESSORY_SERIAL"] = device.serialNumber
    variables["ACCESSORY_NAME"] = device.given?.name ?? device.name
    variables["ACCESSORY_MANUFACTURER"] = device.manufacturer
    variables["ACCESSORY_MODEL"] = device.model
    variables["ACCESSORY_DRIVER"] = device.driver
    variables["ACCESSORY_USB"] = device.usb?.product
    if let battery = event.battery {
      for term in Vocabulary.battery {
        let value: String? =
          switch term.form {
          case .number(_, let get, _): get(battery).map(String.init)
          case .word(_, let get, _): get(battery) ?? "unknown"
          case .list, .names: nil
          }
        for name in Self.names(of: term) { variables[name] = value }
      }
    }
    if let (alarm, state) = event.alarm {
      variables["ACCESSORY_ALARM"] = state.rawValue
      variables["ACCESSORY_ALARM_NAME"] = alarm.name
      variables["ACCESSORY_ALARM_RULE"] = alarm.rule
      variables["ACCESSORY_ALARM_VALUE"] = alarm.value
      variables["ACCESSORY_ALARM_NUMBER"] = alarm.number.map(DecimalText.short)
      variables["ACCESSORY_ALARM_UNIT"] = alarm.unit
      variables["ACCESSORY_ALARM_SINCE"] = DecimalText.short(alarm.since)
    }
    // Unset variables are set to "", so that the command doesn't read an inherited value.
    for name in names where variables[name] == nil { variables[name] = "" }
    return variables.mapValues { SafeText.escape($0, limit: textLimit) }
  }

  /// The variables for a quantity of a battery: its key, and the name that it had before; none for lists and names.
  private static func names(of term: ReadingTerm<BatteryReading>) -> [String] {
    switch term.form {
    case .number, .word: [term.key, term.trace].compactMap { $0.map { "ACCESSORY_BATTERY_" + $0.uppercased() } }
    case .list, .names: []
    }
  }

  private static let names =
    Vocabulary.battery.flatMap(names(of:))
    + [
      "LINK", "SERIAL", "NAME", "MANUFACTURER", "MODEL", "DRIVER", "USB", "ALARM", "ALARM_NAME", "ALARM_RULE",
      "ALARM_VALUE", "ALARM_NUMBER",
      "ALARM_UNIT", "ALARM_SINCE",
    ].map { "ACCESSORY_" + $0 }
}
