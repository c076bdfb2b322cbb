// SPDX-License-Identifier: Apache-2.0

import AccessoryBridge

@main enum BatteryWatch {
  /// Prints the battery of the accessory that is named, or of the only one, until it is unplugged.
  static func main() async {
    let accessories = await Accessories()
    do throws(AccessoryError) {
      for known in try await accessories.list() {
        print("\(known.device.id): \(known.service == nil ? "free" : "held by a service")")
      }
      let accessory = try await accessories.open(CommandLine.arguments.dropFirst().first)
      let news = accessory.news()
      print("\(try await accessory.status()), \(text(try await accessory.battery()))")
      for try await event in news {
        if case .battery(let reading) = event { print(text(reading)) }
      }
    } catch {
      print("\(error.kind): \(error)")
    }
  }

  static func text(_ battery: BatteryReading) -> String {
    "battery \(battery.percent.map { "\($0) %" } ?? "unknown")"
  }
}
