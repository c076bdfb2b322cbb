// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import AccessoryIO
import AccessorySharing
import ArgumentParser
import CommandOutput

struct BridgeCommand: AsyncParsableCommand, JSONCommand {
  static let configuration = CommandConfiguration(
    commandName: "bridge",
    abstract: "Lets other programs use an accessory's line.",
    discussion: """
      Opens DEVICE once, and shares it among all programs that come by any of the endpoints, of which there may be several \
      at once. Ends with Ctrl-C.

      Where its protocol is known (framed, ev3, described ones), it is shared by frames: a program's requests reach the \
      accessory whole, one after another, and each reply goes to the program that asked. What is no frame is dropped. Otherwise, \
      or with --by bytes, all bytes pass as they are, and all programs get all that the accessory sends.

      A pseudo-terminal looks like the accessory's serial port to programs that know nothing else, also where the accessory is \
      a USB device without one, or on the network. DTR, RTS and a break don't pass it: the kernel keeps none for it.

      PLACE is HOST:PORT, or a port alone, which listens at 127.0.0.1; port 0 takes any that is free. Every user of this \
      machine can connect there. Nobody else can, unless --allow says which networks may; nothing is encrypted, and nobody is \
      asked who they are. A connection that begins as a web browser's does is closed.

      Where the accessory's protocol has commands that change something in it, such frames need --write and a profile that \
      says writes: allowed; and so do bytes, unless --writers none shares it read-only.

      With --config all that is said by a file: `device: SIM0001`, and options without their dashes, `tcp: 7000`, \
      `on_unplug: keep`; bridge-cli share check FILE says what is wrong in it.

      EXAMPLES
        bridge-cli bridge /dev/ttyUSB0 --tcp 7000
        bridge-cli bridge /dev/ttyUSB0 --rfc2217 7001
        bridge-cli bridge /dev/ttyUSB0 --rfc2217 7001 --reset esp
        bridge-cli bridge usb:2341:0043 --pty ./tty
        bridge-cli bridge tcp:10.0.0.7:5000 --pty ./tty
        bridge-cli bridge SIM0001 --tcp 0.0.0.0:7000 --allow 192.168.1.0/24 --unix ./lamp.sock --writers one
        echo AT | bridge-cli bridge /dev/ttyUSB0 --baud 9600 --stdio
      """)

  @OptionGroup var device: DeviceArgument
  @Option(
    help: ArgumentHelp("Listen here; may be said several times.", valueName: "place"), transform: ListeningPlace.read)
  var tcp: [ListeningPlace] = []
  @Option(
    help: ArgumentHelp(
      "Listen here for clients of RFC 2217, which set the line's speed and modem lines, too; may be said several times.",
      valueName: "place"), transform: ListeningPlace.read)
  var rfc2217: [ListeningPlace] = []
  @Option(
    help: ArgumentHelp("Listen at a socket with this path; may be said several times.", valueName: "path"),
    completion: .file())
  var unix: [String] = []
  @Option(
    help: ArgumentHelp("Make a pseudo-terminal, linked from this path; may be said several times.", valueName: "path"),
    completion: .file())
  var pty: [String] = []
  @Flag(help: "Share it with standard input and output; what there is to say goes to standard error.")
  var stdio = false

  @Option(
    help: ArgumentHelp(
      "Keep what passes in this file, for trace and replay; appended to if it exists.", valueName: "file"),
    completion: .file())
  var record: String?
  @Option(
    help: ArgumentHelp(
      "Let machines with these addresses connect, like 192.168.1.0/24; may be said several times.", valueName: "net"),
    transform: NetworkArgument.read)
  var allow: [NetworkArgument] = []
  @Option(help: "Whose bytes reach the accessory: none, one (who writes first, until it leaves), or many.")
  var writers = SharingRules.Writers.many
  @Option(
    help: """
      Share frames (each reply goes to who asked) or bytes (all get everything); frames where the protocol is known and \
      clients may write.
      """)
  var by: SharedUnit?
  @Option(
    help: """
      What becomes of a client that doesn't take what comes: close (unless it is the only one: then the accessory waits), \
      skip (it misses some), or wait (all wait for it).
      """)
  var slowReader = SharingRules.SlowReader.close
  @Option(
    help: ArgumentHelp("Bytes that wait for a slow client: 4K to 64M.", valueName: "size"), transform: SizeArgument.read
  )
  var buffer = SizeArgument(bytes: 1 << 20)
  @Option(
    help: """
      When the accessory is unplugged: hang-up (clients are disconnected), keep (they wait for it), or end (with exit \
      status 69).
      """)
  var onUnplug = UnplugArgument.hangUp
  @Option(help: ArgumentHelp("Take in so many clients at each place.", valueName: "number"))
  var maxClients = 512
  @Flag(help: "Take in one client at each place: who comes takes the place of who is there.")
  var newestWins = false
  @Option(
    help: ArgumentHelp("The mode of sockets and terminals; 0600 and the system's unless given.", valueName: "mode"),
    transform: ModeArgument.read)
  var mode: ModeArgument?
  @Option(
    help: ArgumentHelp(
      "A client that says it sends no more is kept until the accessory was silent for so long; 500ms unless given.",
      valueName: "time"), transform: TimeArgument.read)
  var linger: TimeArgument?
  @Option(
    help: ArgumentHelp(
      """
      Reset the board with exact times when a client of --rfc2217 begins to do so by DTR and RTS: esp (ESP32, ESP8266), \
      arduino, or a file that says how (./board.yaml).
      """, valueName: "board"), completion: CompletionWords.resets)
  var reset: ResetArgument?
  @Flag(help: "Let clients change something in the accessory, if its profile allows that, too.")
  var write = false
  @Option(
    help: ArgumentHelp("Take all that from this file, and say nothing else.", valueName: "file"),
    completion: .file(extensions: ["yaml", "yml"]))
  var config: String?
  @OptionGroup(title: TransportOptions.title) var transport: TransportOptions
  @OptionGroup(title: SerialOptions.title) var serial: SerialOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    if config != nil {
      let isMore = device.text != nil || stdio || ![tcp, rfc2217].allSatisfy(\.isEmpty) || !(unix + pty).isEmpty
      guard !isMore else {
        throw ValidationError("--config takes all from the file: name no device and no place beside it")
      }
      return
    }
    guard !tcp.isEmpty || !rfc2217.isEmpty || !unix.isEmpty || !pty.isEmpty || stdio else {
      throw ValidationError(
        "say where others are to find it: --pty ./tty, --tcp 7000, --rfc2217 7001, --unix ./line.sock or --stdio")
    }
    for path in unix + pty where path.isEmpty { throw ValidationError("--unix and --pty want a path, like ./line") }
    for place in tcp + rfc2217 where !place.isLoopback && allow.isEmpty {
      throw ValidationError(
        "other machines can connect to \(place.text): say which may, like --allow 192.168.1.0/24, or leave the host out"
      )
    }
    guard maxClients >= 1 else { throw ValidationError("--max-clients is at least 1") }
    guard (4_096...(64 << 20)).contains(buffer.bytes) else { throw ValidationError("--buffer is 4K to 64M") }
    if by == .frames, writers == .none {
      throw ValidationError("--by frames is for clients that ask: with --writers none nobody does, so leave it out")
    }
    if reset != nil, rfc2217.isEmpty {
      throw ValidationError("--reset is for clients of RFC 2217, which set DTR and RTS: say --rfc2217, too")
    }
    if stdio, output.json { throw ValidationError("--stdio and --json exclude each other: both want standard output") }
  }

  func run() async throws {
    guard let config else { return try await share() }
    var file: BridgeCommand
    do throws(ProfileProblems) {
      file = try await ShareFile.read(path: config)
    } catch {
      throw AccessoryError(error)
    }
    file.output = output
    try await file.share()
  }

  private func share() async throws {
    var rules = rules
    if let reset { rules.resets = try await reset.resets() }
    let hub = SharingHub(rules)
    let view = BridgeView(json: output.json, hasStreams: stdio)
    let talking = Task { for await news in hub.news { view.show(news) } }
    let endpoints = BridgeEndpoints(hub, view)
    let recorder = record.map { BridgeRecorder($0, view) }
    let result: Result<Void, any Error>
    do {
      try await open(endpoints)
      try await endpoints.serve(opening(recorder), endsOnUnplug: onUnplug == .end)
      result = .success(())
    } catch {
      result = .failure(error)
    }
    await endpoints.close()
    await hub.close()
    await talking.value
    try await recorder?.close()
    try result.get()
  }

  private var rules: SharingRules {
    var rules = SharingRules()
    rules.writers = writers
    rules.slowReader = slowReader
    rules.bufferSize = buffer.bytes
    rules.unplug = onUnplug == .keep ? .keep : .hangUp
    if let linger { rules.linger = linger.duration }
    return rules
  }

  private func opening(_ recorder: BridgeRecorder?) -> BridgeOpening {
    let line = LineOptions(transport: transport, serial: serial)
    return BridgeOpening(
      text: device.text, line: line, write: write, isReadOnly: writers == .none, recorder: recorder, unit: by)
  }

  private func open(_ endpoints: BridgeEndpoints) async throws {
    let networks = allow.map(\.network)
    for place in tcp + rfc2217 where !place.isLoopback {
      Output.note(
        "whoever has an address in \(networks.map(\.description).joined(separator: " or ")) can use the accessory at "
          + "\(place.text): what passes is not encrypted, and nobody is asked who they are")
    }
    for place in rfc2217 {
      let limit = EndpointLimit(maximum: maxClients, newestWins: newestWins)
      try await endpoints.add { hub in
        try await RFC2217Endpoint.listen(at: place.host, port: place.port, networks: networks, limit: limit, for: hub)
      }
    }
    for place in tcp {
      let limit = EndpointLimit(maximum: maxClients, newestWins: newestWins)
      try await endpoints.add { hub in
        try await NetworkEndpoint.listen(at: place.host, port: place.port, networks: networks, limit: limit, for: hub)
      }
    }
    for path in unix {
      let limit = EndpointLimit(maximum: maxClients, newestWins: newestWins)
      try await endpoints.add { hub in
        try await UnixEndpoint.listen(at: path, mode: mode?.bits ?? 0o600, limit: limit, for: hub)
      }
    }
    for path in pty { try await endpoints.add(terminalAt: path, mode: mode?.bits) }
    if stdio { await endpoints.addStreams(isOnly: tcp.isEmpty && rfc2217.isEmpty && unix.isEmpty && pty.isEmpty) }
  }
}

extension SharingRules.Writers: ExpressibleByArgument {}
extension SharingRules.SlowReader: ExpressibleByArgument {}
extension SharedUnit: ExpressibleByArgument {}

/// The value of --on-unplug: what happens to the clients when the accessory is unplugged.
enum UnplugArgument: String, ExpressibleByArgument, CaseIterable {
  case hangUp = "hang-up"
  case keep, end
}
