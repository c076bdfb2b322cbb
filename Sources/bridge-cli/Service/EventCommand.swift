// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import CommandOutput
import Dispatch
import Glibc

/// A command of the user's that is run when something happens: the facts are in its environment, ACCESSORY_…, and
/// nothing of them is ever part of its words.
actor EventCommand {
  /// Something that happened.
  struct Occasion: Sendable {
    let event: String
    let device: Device
    var battery: BatteryReading?
  }

  private let words: [String]
  private var running = 0
  /// What the commands are to be told: short, however much a device or a service says.
  private var waiting: [[String: String]] = []
  private var droppedCount = 0

  /// Commands that run at a time.
  static let runningLimit = 8
  /// Occasions that wait for one of these to end; beyond, the oldest are passed over.
  static let waitingLimit = 256
  /// Scalars of a text that a device says of itself.
  static let textLimit = 256

  init(_ words: [String]) { self.words = words }

  /// Runs the command for this, at once or when fewer run. Never waits for it.
  func run(_ occasion: Occasion) {
    guard running < Self.runningLimit else {
      if waiting.count == Self.waitingLimit {
        waiting.removeFirst()
        droppedCount += 1
        if droppedCount == 1 {
          Output.note("\(words[0]): \(Self.runningLimit) of it are running and don't end; older events are passed over")
        }
      }
      return waiting.append(Self.variables(occasion))
    }
    start(Self.variables(occasion))
  }

  private func start(_ variables: [String: String]) {
    do throws(AccessoryError) {
      let process = try ChildProgram.start(words[0], words, extra: variables)
      running += 1
      // Waiting blocks a thread, of which there are no more than `runningLimit`.
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
    // One that can't be started makes no place for the next to wait for.
    while running < Self.runningLimit, !waiting.isEmpty { start(waiting.removeFirst()) }
  }

  /// What the command is told. Texts of a device are made harmless, and cut.
  static func variables(_ occasion: Occasion) -> [String: String] {
    let device = occasion.device
    var variables = [
      "ACCESSORY_EVENT": occasion.event, "ACCESSORY_ID": device.id, "ACCESSORY_PATH": device.address.description,
      "ACCESSORY_SOURCE": device.source.rawValue,
    ]
    variables["ACCESSORY_LINK"] = device.link ?? device.links.first
    variables["ACCESSORY_SERIAL"] = device.serialNumber
    variables["ACCESSORY_NAME"] = device.name
    variables["ACCESSORY_MANUFACTURER"] = device.manufacturer
    variables["ACCESSORY_MODEL"] = device.model
    variables["ACCESSORY_DRIVER"] = device.driver
    variables["ACCESSORY_USB"] = device.usb?.product
    if let battery = occasion.battery {
      variables["ACCESSORY_BATTERY_LEVEL"] = battery.level.rawValue
      variables["ACCESSORY_BATTERY_PERCENT"] = battery.percent.map(String.init)
      variables["ACCESSORY_BATTERY_CHARGE"] = battery.charge.rawValue
      variables["ACCESSORY_BATTERY_MILLIVOLTS"] = battery.millivolts.map(String.init)
    }
    // A command must not take an inherited fact for one of this event.
    for name in names where variables[name] == nil { variables[name] = "" }
    return variables.mapValues { SafeText.escape($0, limit: textLimit) }
  }

  private static let names = [
    "LINK", "SERIAL", "NAME", "MANUFACTURER", "MODEL", "DRIVER", "USB", "BATTERY_LEVEL", "BATTERY_PERCENT",
    "BATTERY_CHARGE", "BATTERY_MILLIVOLTS",
  ].map { "ACCESSORY_" + $0 }
}
