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
      Programs on Linux read UPSs through Network UPS Tools (NUT). Each accessory appears as a UPS. The name of the UPS is the \
      accessory's id; characters other than letters, digits, "-" and "_" become "_". Ends with Ctrl-C.

      NUT's upsmon shuts its machine down when a UPS is on battery (OB) and low (LB). The battery of a robot or a camper is \
      discharged every day, and must not shut a machine down. So only accessories that --ups names can be OB or LB. All others \
      are on line (OL), whatever they report, and CHRG or DISCHRG if they charge or discharge. With --ups, name only a UPS that \
      powers a machine whose upsmon connects here.

      Readings that are too old are not sent: clients get DATA-STALE. While an accessory is unplugged they get DRIVER-NOT-CONNECTED.

      Clients can't change anything: there are no commands and no writable variables, and FSD is refused. With --users, clients must \
      log in with a name and a password from that file. It has the format of NUT's upsd.users, and must not be readable by everybody.

      EXAMPLES
        bridge-cli export nut
        upsc -l
        upsc SIM0001
        bridge-cli export nut --ups RACK-UPS --users /etc/accessory-bridge/nut.users
        bridge-cli export nut --listen 0.0.0.0:3493 --allow 192.168.1.0/24
      """)

  @Option(
    help: ArgumentHelp("Listen at this address. May be repeated; default: 127.0.0.1:3493.", valueName: "place"),
    transform: ListeningPlace.read)
  var listen: [ListeningPlace] = []
  @Option(
    help: ArgumentHelp(
      "Let machines of this network connect, like 192.168.1.0/24. May be repeated.", valueName: "net"),
    transform: NetworkArgument.read)
  var allow: [NetworkArgument] = []
  @Option(
    help: ArgumentHelp(
      "The id or name of an accessory that powers machines whose upsmon connects here, and may make them shut down. May be repeated.",
      valueName: "name"), completion: CompletionWords.devices)
  var ups: [String] = []
  @Option(
    help: ArgumentHelp(
      "The file with names and passwords for clients, in the format of NUT's upsd.users.", valueName: "file"),
    completion: .file())
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
