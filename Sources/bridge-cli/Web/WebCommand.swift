// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryWeb
import ArgumentParser
import CommandOutput

struct WebCommand: AsyncParsableCommand, JSONCommand {
  static let configuration = CommandConfiguration(
    commandName: "web",
    abstract: "Serves a page that shows all accessories in a browser, and follows them.",
    discussion: """
      The readings come from the service (bridge-cli serve), while somebody looks. PLACE is HOST:PORT, or a port alone, which \
      listens on 127.0.0.1. Where other machines can connect, the page needs a token: a browser asks for it as the password, \
      with any user name. The connection isn't encrypted; a reverse proxy can do that.

      EXAMPLES
        bridge-cli web
        bridge-cli web --listen 0.0.0.0:8380 --allow 192.168.1.0/24 --name gateway.local --token-file ./token
        bridge-cli web --name house.example --base /batteries
      """)

  @OptionGroup var web: WebOptions
  @Flag(help: "Let people with the token perform the commands that the service permits.")
  var allowCommands = false
  @OptionGroup var services: ExportedServices
  @OptionGroup var output: OutputOptions

  func run() async throws {
    if output.json { Interruption.endWithOutput() }
    defer { ServiceLog.finish() }
    try await WebSite.serve(
      web, ExportView(json: output.json), title: WebSite.titleOfThisMachine, version: BridgeCLI.version,
      allowsCommands: allowCommands
    ) { [services] in ServiceTopFeed(services.places, isOwn: false) }
  }
}

extension ServiceTopFeed: WebFeed {
  func history(of key: UInt64, _ names: [String], last time: Duration) async -> [ReadingSeries] {
    guard let device = await device(for: key) else { return [] }
    defer { device.client.close() }
    return (try? await device.history(names, last: time))?.series ?? []
  }

  func day(of key: UInt64, _ name: String?, step: Double) async -> (series: [ReadingSeries], energy: Energy?) {
    guard let device = await device(for: key) else { return ([], nil) }
    defer { device.client.close() }
    let names = name.map { [$0] } ?? []
    guard let answer = try? await device.energyHistory(names, last: .seconds(DayOverview.reach), step: step) else {
      return ([], nil)
    }
    return (answer.series, answer.energy)
  }

  func commands(of key: UInt64) async -> [CommandDescription] {
    guard let device = await device(for: key) else { return [] }
    defer { device.client.close() }
    guard (try? await Self.checkSocket(of: device.client)) != nil else { return [] }
    return (try? await device.commands())?.commands ?? []
  }

  func perform(
    _ command: CommandDescription, _ arguments: [String: String], on key: UInt64
  ) async throws(AccessoryError) -> [NamedValue] {
    guard let device = await device(for: key) else {
      throw AccessoryError(.notFound, "its service doesn't answer")
    }
    defer { device.client.close() }
    try await Self.checkSocket(of: device.client)
    let reply = try await device.perform(
      [Bridge.CommandCall(command.name, arguments)], isAnswered: true)
    return CommandAnswer(command, reply.replies.first?.values ?? []).values
  }

  /// Throws unless this is a service's socket for readings. At the other one nothing limits the commands.
  private static func checkSocket(of client: BridgeClient) async throws(AccessoryError) {
    guard try await client.service().readings_socket == client.socketPath else {
      throw AccessoryError(
        .permissionDenied,
        "\(client.socketPath) isn't the service's socket for readings, where its configuration says what may be performed"
      )
    }
  }
}
