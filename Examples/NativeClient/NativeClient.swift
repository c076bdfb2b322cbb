// SPDX-License-Identifier: Apache-2.0

// Prints battery and status of the AF1 accessory, in the way of new Swift code: of one that is plugged in, or of a
// pretended one:
//
//     bridge-cli simulate framed
//     swift run NativeClient

import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import AccessoryFamilies
import AccessoryLink
import FamilyAF1

@main
enum NativeClient {
  static func main() async {
    do throws(AccessoryError) {
      let source = CombinedSource([SimulatorSource(), UdevSource()])
      for await event in try await source.events() {
        switch event {
        case .added(let device), .changed(let device, from: _):
          // Udev tells of a device before its rules have run.
          guard device.isInitialized, let profile = ProfileStore.builtIn.profile(for: device),
            profile.driver == AF1Accessory.driverName
          else { continue }
          return try await show(device, profile)
        case .removed(let device): print("\(device.name ?? device.address.description) was disconnected")
        }
      }
    } catch {
      print(error)
    }
  }

  private static func show(_ device: Device, _ profile: Profile) async throws(AccessoryError) {
    // A session is bytes: `session.write(…)`, `for try await bytes in session.input`. A driver makes sense of them.
    let session = try await DeviceOpener(device, profile: profile).session()
    let accessory = try await AF1Accessory.open(session)
    let battery = try await accessory.battery()
    print("battery: \(battery.percent.map { "\($0) %" } ?? "unknown"), \(battery.level)")
    print("status: \(try await accessory.status())")
    await accessory.close()
  }
}
