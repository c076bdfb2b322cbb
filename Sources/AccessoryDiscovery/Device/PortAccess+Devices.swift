// SPDX-License-Identifier: Apache-2.0

import AccessoryIO

extension PortAccess {
  /// Looks up the permission and the holder of each device's node.
  package static func look(at devices: [Device]) async -> [PortAccess] {
    guard !devices.isEmpty else { return [] }
    return await SetupQueue(label: "access").run {
      let locks = FileLocks()
      return devices.map { PortAccess($0.address, isSimulated: $0.source == .simulator, locks: locks) }
    }
  }
}
