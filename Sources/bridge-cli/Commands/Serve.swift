// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryIO
import ArgumentParser
import BridgeService
import CommandOutput
import Logging

struct Serve: AsyncParsableCommand, JSONCommand {
  static let configuration = CommandConfiguration(
    commandName: "serve",
    abstract: "Opens every accessory that a profile fits, and shares it with other commands.",
    discussion: """
      Other commands then use the accessories through the service. SIGHUP makes it read the profiles and its configuration \
      again. If a service is running already, the command reports that, and ends.

      With --device or --devices the service holds only these devices, usually on the network, and never stops trying to reach \
      them. This is a second service, with its own socket.

      EXAMPLES
        bridge-cli serve
        bridge-cli serve --exit-idle 30s --poll 1m
        bridge-cli serve --device rfc2217:10.0.0.7:7001=my-inverter
      """)

  @OptionGroup var options: ServiceOptions
  @OptionGroup var listed: ListedDevices
  @Option(help: .value("time", "End after this long without accessories and clients."), transform: SecondsArgument.read)
  var exitIdle: SecondsArgument?
  @Option(
    help: .rare("time", "After this time, log which accessories were found; the service continues."),
    transform: SecondsArgument.read)
  var scanTimeout: SecondsArgument?
  @Option(
    help: .value(
      "number", "The maximum number of attached accessories; default: max_accessories in service.yaml, or 256."))
  var maxAccessories: Int?

  @OptionGroup var output: OutputOptions

  @Option(help: .hidden)
  var expect: [UdevDevice] = []

  func validate() throws {
    guard maxAccessories ?? 1 >= 1 else { throw ValidationError("--max-accessories must be at least 1") }
  }

  /// What the stacks of its threads and its memory need without accessories, measured; see `Memory.checkRoom`.
  private static let neededMemory = 20 << 20

  func run() async throws {
    try Memory.checkRoom(for: "the service", needing: Self.neededMemory)
    let log = ServiceLog.logger(BridgeCLI.name, options.logLevel, json: output.json)
    defer { ServiceLog.finish() }
    let (sources, powerSupplies) = listed.areGiven ? ([], nil) : try KnownDevices.serviceSources()
    let entries = try await listed.entries()
    var configuration = options.serviceConfiguration
    if listed.areGiven { configuration.keepTrying(profiles: Set(entries.compactMap(\.profile))) }
    configuration.exitIdle = exitIdle?.duration
    configuration.scanTimeout = scanTimeout?.duration
    if let maxAccessories { configuration.maximumAttached = maxAccessories }
    switch try await RunningService.takePlace(options, forNamed: listed.areGiven) {
    case .taken(let process, let path):
      if output.json {
        ServiceLog.tell(ServingDocument(event: .runningAlready, SocketPlaces(bridge: path), process: process))
      }
      let process = process.map { ", process \($0)," } ?? ""
      log.notice("a service is running already: it\(process) answers on \(path)")
      if !expect.isEmpty { try await UdevCall.tell(path, expect) }
    case .free(let sockets):
      let service = RunningService(
        configuration: configuration, log: log, sources: sources, powerSupplies: powerSupplies, json: output.json,
        isForNamed: listed.areGiven, file: options.config, hasLimit: maxAccessories != nil)
      try await service.run(on: sockets, hooks: .forManager()) { service in
        for device in expect { await service.expect(device.device) }
        await ListedDevices.hold(entries, by: service, log: log)
      }
    }
  }
}
