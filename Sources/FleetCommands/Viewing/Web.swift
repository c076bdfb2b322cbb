// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryWeb
import ArgumentParser
import CommandOutput

struct Web: AsyncParsableCommand, JSONCommand {
  static let configuration = CommandConfiguration(
    commandName: "web",
    abstract: "Serves a page that shows all accessories of all gateways in a browser, and follows them.",
    discussion: """
      The page is that of bridge-cli web. It is connected with the broker while somebody looks. It shows at most 512 accessories, \
      those that need care first; --gateway chooses.

      EXAMPLES
        bridge-fleet web --broker mqtt://broker.example
        bridge-fleet web --gateway attic --listen 8381
      """)

  @OptionGroup var web: WebOptions
  @OptionGroup var fleet: FleetOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    if output.json { Interruption.endWithOutput() }
    defer { ServiceLog.finish() }
    let settings = try await fleet.settings()
    let (gateway, patience) = (fleet.gateway, fleet.timeout.duration)
    try await WebSite.serve(
      web, ExportView(json: output.json), title: "Accessories of \(gateway ?? "\(settings.broker)")",
      version: BridgeFleet.version
    ) { () async throws(AccessoryError) in
      let feed = FleetTopFeed(settings, gateway: gateway)
      try await feed.begin(within: patience)
      return feed
    }
  }
}

extension FleetTopFeed: WebFeed {}
