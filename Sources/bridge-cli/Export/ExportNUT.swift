// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryExport
import AccessoryIO
import ArgumentParser
import CommandOutput

struct ExportNUT: AsyncParsableCommand, JSONCommand {
  static let configuration = CommandConfiguration(
    commandName: "nut",
    abstract: "Serves accessories as UPSs with NUT's protocol, for upsc, upsmon and Home Assistant.",
    discussion: """
      Each accessory appears as a UPS with the accessory's id. Only accessories named by --ups are ever reported as on battery or \
      low, which makes upsmon shut machines down: name only a UPS that powers them. Clients can't change anything.

      EXAMPLES
        bridge-cli export nut
        bridge-cli export nut --ups RACK-UPS --users /etc/accessory-bridge/nut.users
        bridge-cli export nut --listen 0.0.0.0:3493 --allow 192.168.1.0/24
      """)

  @Option(
    help: .value("place", "Listen here; may be repeated; default: 127.0.0.1:3493."), transform: ListeningPlace.read)
  var listen: [ListeningPlace] = []
  @Option(
    help: .value("net", "Let machines of this network connect; may be repeated."), transform: NetworkArgument.read)
  var allow: [NetworkArgument] = []
  @Option(
    help: .value("name", "An accessory that may make machines shut down; may be repeated."),
    completion: CompletionWords.devices)
  var ups: [String] = []
  @Option(help: .value("file", "Names and passwords of clients, as in NUT's upsd.users."), completion: .file())
  var users: String?
  @OptionGroup var services: ExportedServices
  @OptionGroup var output: OutputOptions

  /// The port of NUT's servers, as IANA has it.
  private static let port: UInt16 = 3_493

  func validate() throws {
    for place in listen { try place.check(allow) }
    for name in ups where name.isEmpty { throw ValidationError("--ups needs an accessory's id") }
  }

  func run() async throws {
    if output.json { Interruption.endWithOutput() }
    defer { ServiceLog.finish() }
    let view = ExportView(json: output.json)
    var configuration = NUTSession.Configuration(upses: ups, version: BridgeCLI.version)
    if let users {
      configuration.users = try await SetupQueue(label: "users").run { () throws(AccessoryError) in
        try NUTUsers.read(users)
      }
    }
    let feed = ReadingsFeed()
    let server = ExportServer(feed) { [configuration] peer in
      NUTSession(configuration, address: peer?.host ?? "?")
    }
    let places = listen.isEmpty ? [("127.0.0.1", Self.port)] : listen.map { ($0.host, $0.port) }
    for place in listen { place.note(allow) }
    for (host, port) in places {
      let place = try await server.listen(at: host, port: port, networks: allow.map(\.network)) { view.refused($0) }
      view.listening("nut:\(place.network)")
    }
    await services.follow(with: feed, view)
    await server.close()
    throw CancellationError()
  }
}
