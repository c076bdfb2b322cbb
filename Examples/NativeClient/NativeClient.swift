// SPDX-License-Identifier: Apache-2.0

// Prints battery and status of the framed accessory, in the way of new Swift code. Try it beside a pretended one:
//
//     bridge-cli simulate framed
//     swift run NativeClient

import AccessoryDiscovery
import AccessoryDrivers
import AccessoryIO
import AccessoryLink

@main
enum NativeClient {
  static func main() async {
    do throws(AccessoryError) {
      for await event in try await SimulatorSource().events() {
        switch event {
        case .added(let device):
          guard let profile = ProfileStore.builtIn.profile(for: device), profile == .framed else { continue }
          return try await show(device, profile)
        case .changed: break
        case .removed(let device): print("\(device.name ?? device.path) was disconnected")
        }
      }
    } catch {
      print(error)
    }
  }

  private static func show(_ device: Device, _ profile: Profile) async throws(AccessoryError) {
    // A session is bytes: `session.write(…)`, `for try await bytes in session.input`. A driver makes sense of them.
    let session = try await profile.open(device)
    let accessory = try await FramedAccessory.open(session)
    let battery = try await accessory.battery()
    print("battery: \(battery.percent.map { "\($0) %" } ?? "unknown"), \(battery.level)")
    print("status: \(try await accessory.status().state)")
    await accessory.close()
  }
}
