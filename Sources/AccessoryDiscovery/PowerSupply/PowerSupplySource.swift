// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import SystemPackage

/// The batteries and chargers that the kernel knows (`/sys/class/power_supply`): the machine's own, and those of mice, keyboards,
/// headsets and the like. Follows the messages of udev, or of the kernel if udev doesn't run; never polls.
///
/// Chargers are reported, too; `Device.mayBeAccessory` is false for them.
public struct PowerSupplySource: DeviceSource {
  private let io: IOThread
  /// The queue on which sysfs is read, which may block.
  private let reader = SetupQueue(label: "power supplies")

  /// A source whose messages are received on `io`.
  public init(io: IOThread = .shared) { self.io = io }

  /// The power supplies that are present now, sorted by name. Doesn't throw.
  public func devices() async throws(AccessoryError) -> [Device] {
    await reader.run { PowerSupplyFolder.all().map(\.device) }
  }

  /// The power supplies that are present now, and then the changes. What a battery measures isn't a change. Throws `ioFailure` or another
  /// error of listening to udev.
  public func events() async throws(AccessoryError) -> AsyncStream<DeviceEvent> {
    // A batch that is lost is no loss: the next one leads to a scan.
    let (batches, batch) = AsyncStream<[UdevMessage]>.makeStream(bufferingPolicy: .bufferingNewest(64))
    let monitor = try UdevMonitor.starting(io: io, subsystems: [UdevMonitor.powerSupplies]) { batch.yield($0) }
    let (stream, continuation) = AsyncStream<DeviceEvent>.makeStream()
    var model = PowerSupplyModel()
    for event in await scan(&model) { continuation.yield(event) }
    let following = Task { [model] in
      var model = model
      for await messages in batches {
        for event in model.apply(messages) { continuation.yield(event) }
        for event in await scan(&model) { continuation.yield(event) }
      }
    }
    continuation.onTermination = { _ in
      monitor.stop()
      following.cancel()
    }
    return stream
  }

  private func scan(_ model: inout PowerSupplyModel) async -> [DeviceEvent] {
    model.take(await reader.run { PowerSupplyFolder.all().map { ($0, $0.device) } })
  }
}

/// The known power supplies, kept up to date by scans. A value type without I/O.
struct PowerSupplyModel: Sendable {
  private var known: [PowerSupplyFolder: Device] = [:]
  /// Those that were removed by a message, whose folders may still be there.
  private var gone: Set<PowerSupplyFolder> = []

  /// Handles messages, and returns the removals that are certain at once. A scan must follow.
  mutating func apply(_ messages: [UdevMessage]) -> [DeviceEvent] {
    var events: [DeviceEvent] = []
    for case .hint(let hint) in messages {
      guard hint.action == .removed else {
        // The removal was its last message: this is another one, whose folder may have the same inode.
        gone = gone.filter { $0.devpath != hint.devpath }
        continue
      }
      for folder in known.keys where folder.devpath == hint.devpath {
        gone.insert(folder)
        if let device = known.removeValue(forKey: folder) { events.append(.removed(device)) }
      }
    }
    return events
  }

  /// Handles a scan and returns the changes, removals first.
  mutating func take(_ found: [(folder: PowerSupplyFolder, device: Device)]) -> [DeviceEvent] {
    gone.formIntersection(found.map(\.folder))
    let present = Dictionary(found.filter { !gone.contains($0.folder) }) { first, _ in first }
    var events = known.filter { present[$0.key] == nil }.values.sorted { $0.address < $1.address }.map {
      DeviceEvent.removed($0)
    }
    for (folder, device) in present.sorted(by: { $0.key.name < $1.key.name }) {
      if let old = known[folder] {
        if old == device { continue }
        // With another serial number it is another device.
        events += old.id == device.id ? [.changed(device, from: old)] : [.removed(old), .added(device)]
      } else {
        events.append(.added(device))
      }
    }
    known = present
    return events
  }
}
