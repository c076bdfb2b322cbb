// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import ArgumentParser
import BridgeService
import CommandOutput
import Logging

struct Serve: AsyncParsableCommand, JSONCommand {
  static let configuration = CommandConfiguration(
    commandName: "serve",
    abstract: "Attaches every accessory that a profile fits, and answers for them.",
    discussion: """
      Holds the accessories as they come and go, and shares them: battery, status, info, request and trace then go \
      through the service by themselves. Says on standard error what it does; with --json on standard output, and there \
      also what accessories tell. Ends with Ctrl-C or SIGTERM; SIGHUP reads \
      the profiles anew. Where a service runs already, says so and ends well.

      EXAMPLES
        bridge-cli serve
        bridge-cli serve --exit-idle 30s --poll 1m
        bridge-cli serve --reconnect-tries forever --reconnect-backoff 2
      """)

  @OptionGroup var options: ServiceOptions
  @Option(
    help: ArgumentHelp("End when nothing was attached and no client there for so long.", valueName: "time"),
    transform: SecondsArgument.read)
  var exitIdle: SecondsArgument?
  @Option(
    help: ArgumentHelp(
      "After so long say that the search is over, and what it found; the service goes on.", valueName: "time"),
    transform: SecondsArgument.read)
  var scanTimeout: SecondsArgument?
  @Option(help: ArgumentHelp("Attach at most so many accessories.", valueName: "number"))
  var maxAccessories: Int = 256

  @OptionGroup var output: OutputOptions

  @Option(help: .hidden)
  var expect: [String] = []

  func validate() throws {
    guard maxAccessories >= 1 else { throw ValidationError("--max-accessories is at least 1") }
  }

  func run() async throws {
    let log = ServiceLog.logger(options.logLevel, json: output.json)
    defer { ServiceLog.finish() }
    let sources = try KnownDevices.sources()
    var configuration = options.serviceConfiguration
    configuration.exitIdle = exitIdle?.duration
    configuration.scanTimeout = scanTimeout?.duration
    configuration.maximumAttached = maxAccessories
    switch try await RunningService.takePlace(options.socket) {
    case .taken(let process, let path):
      if output.json {
        ServiceLog.tell(
          ServingDocument(event: .runningAlready, socket: OrNull(path), process: OrNull(process)))
      }
      let process = process.map { ", process \($0)," } ?? ""
      log.notice("a service runs already: it\(process) answers on \(path)")
      if !expect.isEmpty { try await UdevCall.tell(path, expect) }
    case .free(let socket):
      let service = RunningService(configuration: configuration, log: log, sources: sources, json: output.json)
      try await service.run(on: socket, hooks: .forManager()) { service in
        for path in expect { await service.expect(path) }
      }
    }
  }
}
