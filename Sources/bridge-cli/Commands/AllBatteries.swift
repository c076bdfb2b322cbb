// SPDX-License-Identifier: Apache-2.0

import AccessoryBridge
import AccessoryControl
import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import AccessoryIO
import ArgumentParser
import CommandOutput

/// The batteries of all accessories: those that services hold, and those that this command opens for it.
enum AllBatteries {
  /// The result for one accessory.
  struct Entry: Sendable {
    let device: Device
    var battery: Read<BatteryReading>?
    /// What a UPS says of its supply and its load.
    var supply: ReadValues?
    var error: AccessoryError?
    /// When it was last there, of an accessory that is gone.
    var gone: String?

    /// What people should know of it.
    var problem: String? { error?.message ?? gone ?? battery?.missing }
  }

  /// The number of accessories that are asked at the same time.
  private static let width = 8

  /// Asks all accessories, in the order of `list`. An accessory without a battery is left out.
  static func read(_ line: LineOptions, _ wish: ReadingWish) async throws -> [Entry] {
    let work: [@Sendable () async -> Entry?] = try await Door.finder(line).all(replyTimeout: patience).map { one in
      { @Sendable in await read(one.device, one.found, wish) }
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

  /// The longest wait for the answer of one accessory of a service.
  private static let patience = Duration.seconds(30)

  /// Asks one accessory; nil for one without a battery.
  private static func read(
    _ device: Device, _ found: Result<any FoundAccessory, any Error>, _ wish: ReadingWish
  ) async -> Entry? {
    do {
      let accessory = try found.get()
      // What had no battery when it was there has none now.
      if let held = accessory.service, held.isGone, held.accessory.last?.battery == nil { return nil }
      let (read, supply) = try await accessory.with(needing: .battery) {
        (try await $0.battery(wish), await $0.supply(wish))
      }
      let gone = accessory.service.flatMap { $0.isGone ? HeldView.lastThere($0.accessory) : nil }
      return Entry(device: device, battery: read.map(\.withTimeToEmpty), supply: supply, error: nil, gone: gone)
    } catch {
      let error = failure(error)
      return error.kind == .unsupported ? nil : Entry(device: device, error: error)
    }
  }

  private static func failure(_ error: any Error) -> AccessoryError {
    error as? AccessoryError ?? AccessoryError(.ioFailure, "\(error)")
  }

  /// Prints the table for people, or the document. Then throws the exit status of the first battery that couldn't be read.
  static func show(_ entries: [Entry], json: Bool) throws {
    if json {
      Output.json(
        BatteryListDocument(
          entries.map {
            BatteryListDocument.Entry(
              DeviceDocument($0.device), $0.battery, supply: $0.supply, error: $0.error)
          }))
    } else if entries.isEmpty {
      Output.note("No accessory with a battery found. To simulate one: bridge-cli simulate framed")
    } else {
      BatteryTable.lines(
        entries.map { ($0.device.title, $0.battery, $0.supply, $0.problem) }, columns: Output.columns
      ).forEach(Output.line)
    }
    if let error = entries.lazy.compactMap(\.error).first { throw ExitCode(ExitStatus.of(error.kind)) }
  }
}
