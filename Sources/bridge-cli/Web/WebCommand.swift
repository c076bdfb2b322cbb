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
      The page only shows. The readings come from the service (bridge-cli serve), while somebody looks. PLACE is HOST:PORT, or a port \
      alone, which listens on 127.0.0.1. Where other machines can connect, the page needs a token: a browser asks for it as the \
      password, with any user name. The connection isn't encrypted; a reverse proxy can do that.

      EXAMPLES
        bridge-cli web
        bridge-cli web --listen 0.0.0.0:8380 --allow 192.168.1.0/24 --name gateway.local --token-file ./token
        bridge-cli web --name house.example --base /batteries
      """)

  @OptionGroup var web: WebOptions
  @OptionGroup var services: ExportedServices
  @OptionGroup var output: OutputOptions

  func run() async throws {
    if output.json { Interruption.endWithOutput() }
    defer { ServiceLog.finish() }
    try await WebSite.serve(
      web, ExportView(json: output.json), title: WebSite.titleOfThisMachine, version: BridgeCLI.version
    ) { [services] in ServiceTopFeed(services.places, isOwn: false) }
  }
}

extension ServiceTopFeed: WebFeed {
  /// The page's graphs go back as far.
  private static let longestGraph = Duration.seconds(30 * 86_400)

  func history(of key: String, _ names: [String]) async -> [ReadingSeries] {
    guard let (client, place) = await client(for: key) else { return [] }
    defer { client.close() }
    return (try? await client.device(place).history(names, last: Self.longestGraph))?.series ?? []
  }

  func commands(of key: String) async -> [CommandDescription] {
    guard let (client, place) = await client(for: key) else { return [] }
    defer { client.close() }
    return (try? await client.device(place).commands())?.commands ?? []
  }
}
