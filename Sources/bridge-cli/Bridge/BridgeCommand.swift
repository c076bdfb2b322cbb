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
      Opens DEVICE once and shares it among all programs that connect to the endpoints. Several endpoints can be open at the same \
      time. Ends with Ctrl-C.

      If the accessory's protocol is known (framed, ev3, or described by a file), the line is shared by frames: each request \
      reaches the accessory as a whole, requests are sent one after another, and each reply goes to the program that sent the \
      request. Bytes that are not part of a frame are dropped. Otherwise, or with --by bytes, all bytes pass unchanged, and every \
      program receives everything that the accessory sends.

      A pseudo-terminal (--pty) looks like a serial port to other programs, even if the accessory is on the network or is a USB \
      device without a serial port. DTR, RTS and break are not passed on, because the kernel has none for a pseudo-terminal.

      PLACE is HOST:PORT, or a port alone, which listens on 127.0.0.1; port 0 takes any free port. Every user of this machine can \
      connect. Other machines can connect only if --allow names their network. Connections are not encrypted, and clients are not \
      authenticated. A connection that begins with an HTTP request is closed.

      Commands that change something in the accessory, and raw bytes that may, reach it only with --write and a profile with \
      `writes: allowed`. By frames, all other requests reach it without these. By bytes, clients then only read, as with \
      --writers none.

      --config takes the device and the options from a file: `device: SIM0001`, and options without their dashes, such as \
      `tcp: 7000` and `on_unplug: keep`. Check such a file with: bridge-cli share check FILE

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
    help: ArgumentHelp("Listen at this address. May be repeated.", valueName: "place"), transform: ListeningPlace.read)
  var tcp: [ListeningPlace] = []
  @Option(
    help: ArgumentHelp(
      "Listen here for clients of RFC 2217, which can also set the line's speed and modem lines. May be repeated.",
      valueName: "place"), transform: ListeningPlace.read)
  var rfc2217: [ListeningPlace] = []
  @Option(
    help: ArgumentHelp("Listen at a Unix socket with this path. May be repeated.", valueName: "path"),
    completion: .file())
  var unix: [String] = []
  @Option(
    help: ArgumentHelp("Make a pseudo-terminal with a link at this path. May be repeated.", valueName: "path"),
    completion: .file())
  var pty: [String] = []
  @Flag(help: "Share the line with standard input and output; messages go to standard error.")
  var stdio = false

  @Option(
    help: ArgumentHelp(
      "Record the traffic in this file, for trace and replay. An existing file is appended to.", valueName: "file"),
    completion: .file())
  var record: String?
  @Option(
    help: ArgumentHelp(
      "Let machines of this network connect, like 192.168.1.0/24. May be repeated.", valueName: "net"),
    transform: NetworkArgument.read)
  var allow: [NetworkArgument] = []
  @Option(
    help:
      "Which clients' bytes reach the accessory: of none, of one (the first that writes, until it leaves), or of many.")
  var writers = SharingRules.Writers.many
  @Option(
    help: """
      Share frames (each reply goes to the client that asked) or bytes (every client receives everything); default: frames \
      if the protocol is known and clients may write, otherwise bytes.
      """)
  var by: SharedUnit?
  @Option(
    help: """
      What happens to a client that reads too slowly: close (if it is the only client, the accessory waits instead), \
      skip (it misses bytes), or wait (all clients wait for it).
      """)
  var slowReader = SharingRules.SlowReader.close
  @Option(
    help: ArgumentHelp("How many bytes are kept for a slow client, 4K to 64M.", valueName: "size"),
    transform: SizeArgument.read
  )
  var buffer = SizeArgument(bytes: 1 << 20)
  @Option(
    help: """
      When the accessory is unplugged: hang-up (clients are disconnected), keep (they wait for it), or end (with exit \
      status 69).
      """)
  var onUnplug = UnplugArgument.hangUp
  @Option(help: ArgumentHelp("The greatest number of clients at each endpoint.", valueName: "number"))
  var maxClients = 512
  @Flag(help: "Allow one client at each endpoint: a new client replaces the one that is connected.")
  var newestWins = false
  @Option(
    help: ArgumentHelp(
      "The file mode of sockets (default: 0600) and pseudo-terminals (default: the system's).", valueName: "mode"),
    transform: ModeArgument.read)
  var mode: ModeArgument?
  @Option(
    help: ArgumentHelp(
      "Keep a client that has closed its sending side until the accessory has been silent for this long; default: 500ms.",
      valueName: "time"), transform: TimeArgument.read)
  var linger: TimeArgument?
  @Option(
    help: ArgumentHelp(
      """
      When a client of --rfc2217 begins to reset the board by DTR and RTS, run the reset here with exact times: esp (ESP32, \
      ESP8266), arduino, or a file that describes it (./board.yaml); default: as the profile says; none overrides that.
      """, valueName: "board"), completion: CompletionWords.resets)
  var reset: ResetArgument?
  @Flag(help: "Let clients send commands and bytes that may change the accessory, if its profile allows them.")
  var write = false
  @Option(
    help: ArgumentHelp("Take the device and all options from this file.", valueName: "file"),
    completion: .file(extensions: ["yaml", "yml"]))
  var config: String?
  @OptionGroup(title: TransportOptions.title) var transport: TransportOptions
  @OptionGroup(title: SerialOptions.title) var serial: SerialOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    if config != nil {
      let isMore = device.text != nil || stdio || ![tcp, rfc2217].allSatisfy(\.isEmpty) || !(unix + pty).isEmpty
      guard !isMore else {
        throw ValidationError("--config takes everything from the file: leave out the device and the endpoints")
      }
      return
    }
    guard !tcp.isEmpty || !rfc2217.isEmpty || !unix.isEmpty || !pty.isEmpty || stdio else {
      throw ValidationError(
        "name at least one endpoint: --pty ./tty, --tcp 7000, --rfc2217 7001, --unix ./line.sock or --stdio")
    }
    for path in unix + pty where path.isEmpty { throw ValidationError("--unix and --pty want a path, like ./line") }
    for place in tcp + rfc2217 { try place.check(allow) }
    guard maxClients >= 1 else { throw ValidationError("--max-clients is at least 1") }
    guard (4_096...(64 << 20)).contains(buffer.bytes) else { throw ValidationError("--buffer is 4K to 64M") }
    if by == .frames, writers == .none {
      throw ValidationError(
        "--by frames needs clients that send requests, and --writers none forbids that: leave one of them out")
    }
    if reset != nil, rfc2217.isEmpty {
      throw ValidationError("--reset needs clients that can set DTR and RTS: add --rfc2217")
    }
    if stdio, output.json { throw ValidationError("--stdio and --json exclude each other: both use standard output") }
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
      let opening = opening(recorder)
      // Checked before clients can come: an endpoint that ends at once is of no use.
      try await opening.checkPermission()
      try await open(endpoints)
      try await endpoints.serve(opening, endsOnUnplug: onUnplug == .end)
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
      text: device.text, line: line, write: write, isReadOnly: writers == .none, recorder: recorder, unit: by,
      usesProfileReset: reset == nil)
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
