// SPDX-License-Identifier: Apache-2.0

import AccessoryBridge
import AccessoryControl
import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import AccessoryIO
import CommandOutput

/// The batteries of all accessories: those that services hold, and those that this command opens for it.
enum AllBatteries {
  /// What became of one accessory.
  struct Entry: Sendable {
    let device: Device
    var battery: BatteryReading?
    /// The age of the reading in milliseconds; nil for a reading of now.
    var age: Int?
    var isStale = false
    var error: AccessoryError?
  }

  /// How many accessories are asked at the same time.
  private static let width = 8

  /// Asks all accessories, in the order of `list`. An accessory without a battery is left out.
  static func read(_ line: LineOptions) async throws -> [Entry] {
    let held = await ServiceEntry.all(at: ServicePlace.all(), replyTimeout: .seconds(5)).held.filter(\.isHeld)
    let devices = try await KnownDevices.devices(for: DeviceName(nil)).filter { device in
      device.mayBeAccessory
        && !held.contains { entry in
          entry.device.isSame(as: device)
            || (device.unit == nil && entry.device.unit != nil && entry.device.isOnLine(of: device))
        }
    }
    var work: [@Sendable () async -> Entry?] = held.map { entry in { @Sendable in await read(entry) } }
    for device in devices {
      do {
        let target = try await OpenedAccessory.find(device.place, line)
        guard target.driver != nil else { continue }
        work.append { @Sendable in await open(target) }
      } catch {
        let entry = Entry(device: device, error: failure(error))
        work.append { @Sendable in entry }
      }
    }
    return await withTaskGroup(of: (Int, Entry?).self) { group in
      var entries = [Entry?](repeating: nil, count: work.count)
      var next = 0
      func start() {
        guard next < work.count else { return }
        let (index, body) = (next, work[next])
        next += 1
        group.addTask { (index, await body()) }
      }
      for _ in 0..<width { start() }
      while let (index, entry) = await group.next() {
        entries[index] = entry
        start()
      }
      return entries.compactMap { $0 }
    }
  }

  private static func read(_ entry: ServiceEntry) async -> Entry? {
    guard entry.accessory.driver != nil else { return nil }
    do throws(AccessoryError) {
      var calls = entry.calls(label: nil)
      calls.client.replyTimeout = patience
      let reply = try await calls.battery()
      return Entry(
        device: entry.device, battery: reply.battery.reading.withTimeToEmpty, age: reply.age_ms,
        isStale: reply.stale == true)
    } catch {
      return error.kind == .unsupported ? nil : Entry(device: entry.device, error: error)
    }
  }

  /// The longest wait for the answer of one accessory.
  private static let patience = Duration.seconds(30)

  /// Opens an accessory; nil for one without a battery.
  private static func open(_ target: Target) async -> Entry? {
    do {
      let reading = try await OpenedAccessory.with(target, needing: .battery) { opened in
        try await opened.accessory.battery()
      }
      return Entry(device: target.device, battery: reading.withTimeToEmpty)
    } catch {
      let error = failure(error)
      return error.kind == .unsupported ? nil : Entry(device: target.device, error: error)
    }
  }

  private static func failure(_ error: any Error) -> AccessoryError {
    error as? AccessoryError ?? AccessoryError(.ioFailure, "\(error)")
  }

  /// The table for people, or the document.
  static func show(_ entries: [Entry], json: Bool) {
    if json {
      return Output.json(
        BatteryListDocument(
          entries.map {
            BatteryListDocument.Entry(
              DeviceDocument($0.device), $0.battery, age: $0.age, isStale: $0.isStale, error: $0.error)
          }))
    }
    guard !entries.isEmpty else {
      return Output.note("No accessory with a battery found. To simulate one: bridge-cli simulate framed")
    }
    BatteryTable.lines(
      entries.map { ($0.device.id, $0.battery, $0.age, $0.isStale, $0.error?.message) },
      columns: Output.columns
    ).forEach(Output.line)
  }
}
