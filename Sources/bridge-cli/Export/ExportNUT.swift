// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryExport
import AccessoryIO
import ArgumentParser
import CommandOutput

struct ExportNUT: AsyncParsableCommand, JSONCommand {
  static let configuration = CommandConfiguration(
    commandName: "nut",
    abstract: "Serves accessories as UPSs by the protocol of NUT, for upsc, upsmon and Home Assistant.",
    discussion: """
      Network UPS Tools (NUT) is what Linux knows UPSs by. Each accessory is a UPS whose name is the accessory's id, with "_" in \
      the place of all characters but letters, digits, "-" and "_". Ends with Ctrl-C.

      NUT's upsmon shuts its machine down when a UPS is on battery (OB) and low (LB). A battery that powers something else is \
      discharged and low every day. So only accessories that --ups names are ever OB or LB; all others are on line (OL) \
      whatever they report, and perhaps CHRG or DISCHRG. Name only the UPS of a machine whose upsmon asks here.

      Readings that are too old are not told: clients get DATA-STALE, and DRIVER-NOT-CONNECTED while an accessory is unplugged.

      Clients can change nothing: there are no commands and no writable variables, and FSD is refused. With --users they must log in \
      by a name and a password of that file, which is made as NUT's upsd.users is, and must not be readable by everybody.

      EXAMPLES
        bridge-cli export nut
        upsc -l
        upsc SIM0001
        bridge-cli export nut --ups RACK-UPS --users /etc/accessory-bridge/nut.users
        bridge-cli export nut --listen 0.0.0.0:3493 --allow 192.168.1.0/24
      """)

  @Option(
    help: ArgumentHelp("Listen here; may be said several times; default: 127.0.0.1:3493.", valueName: "place"),
    transform: ListeningPlace.read)
  var listen: [ListeningPlace] = []
  @Option(
    help: ArgumentHelp(
      "Let machines with these addresses connect, like 192.168.1.0/24; may be said several times.", valueName: "net"),
    transform: NetworkArgument.read)
  var allow: [NetworkArgument] = []
  @Option(
    help: ArgumentHelp(
      "The accessory with this id or name is a UPS of machines whose upsmon asks here, and may make them shut down; may be said "
        + "several times.", valueName: "name"), completion: CompletionWords.devices)
  var ups: [String] = []
  @Option(
    help: ArgumentHelp("Who may log in, in the form of NUT's upsd.users.", valueName: "file"), completion: .file())
  var users: String?
  @OptionGroup var services: ExportedServices
  @OptionGroup var output: OutputOptions

  /// The port of NUT's servers, as IANA has it.
  private static let port: UInt16 = 3_493

  func validate() throws {
    for place in listen { try place.check(allow) }
    for name in ups where name.isEmpty { throw ValidationError("--ups wants an accessory's id") }
  }

  func run() async throws {
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
