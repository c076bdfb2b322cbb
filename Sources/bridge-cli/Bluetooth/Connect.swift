// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import AccessoryIO
import AccessoryProtocols
import ArgumentParser
import CommandOutput
import Console

struct Connect: AsyncParsableCommand, JSONCommand, LineCommand {
  static let configuration = CommandConfiguration(
    commandName: "connect",
    abstract: "Connects to a Bluetooth device through an HM-10, and passes bytes on.",
    usage: """
      bridge-cli connect [<device>] <address> [--timeout <time>] [--json]
             bridge-cli connect [<device>] <number> [--json]
      """,
    discussion: """
      ADDRESS is like 00:17:EA:09:09:09; it is searched for first, unless the last scan found it. NUMBER is the one in \
      front of it in what the last bridge-cli scan showed.

      What is typed goes to the device, and what it sends is printed, byte by byte, until Ctrl-] or the end of the input. A \
      connection that is lost is taken up again, three times, each a second later, and so is one that can't be made; what \
      is typed meanwhile is lost. On a terminal, what would make it do something is made visible, unless --raw is said. With --json what happens is printed, one document a line, with bytes in hexadecimal.

      EXIT STATUS
        66  no such device was found
        69  the module has a connection already, or another program has it; or the connection was lost for good, or \
      couldn't be made
        75  the module doesn't answer
        76  the module refuses to connect
        78  there are as many connections as there may be

      EXAMPLES
        bridge-cli connect 1
        bridge-cli connect /dev/ttyUSB0 00:17:EA:09:09:09 --driver hm10
        echo on | bridge-cli connect 1 --linger 2s
      """)

  @Argument(
    help: ArgumentHelp("The module, unless there is just one; whom to connect to.", valueName: "word"),
    completion: CompletionWords.devices)
  var words: [String]
  @Option(
    help: ArgumentHelp("How long to search for an address, in seconds or with a unit.", valueName: "time"),
    transform: SecondsArgument.read)
  var timeout: SecondsArgument?
  @Option(
    help: ArgumentHelp(
      "At the end of the input, stay until nothing has come for this time; 1s unless given.", valueName: "time"),
    transform: TimeArgument.read)
  var linger: TimeArgument?
  @Flag(help: "Print what comes as it is, also on a terminal, which then does what the other side says.")
  var raw = false
  @Flag(help: "Connect as to a device of dual mode.")
  var dual = false
  @OptionGroup var retry: RetryOptions
  @OptionGroup(title: TransportOptions.title) var transport: TransportOptions
  @OptionGroup(title: SerialOptions.title) var serial: SerialOptions
  @OptionGroup var waiting: WaitOptions
  @OptionGroup var output: OutputOptions

  private var target: String { words.last ?? "" }
  private var device: String? { words.count > 1 ? words[0] : nil }

  func validate() throws {
    guard (1...2).contains(words.count) else { throw ValidationError("a device and whom to connect to were expected") }
    guard BluetoothAddress(target) != nil || Int(target).map({ $0 > 0 }) == true else {
      throw ValidationError("\(target) is no address, like 00:17:EA:09:09:09, and no number of the last scan")
    }
  }

  func run() async throws {
    try await OpenModule.with(device, line) { open in
      let known = RememberedScan(open.device)?.load() ?? []
      let central = try await open.start(retry.policy, known: known)
      let events = await central.events()
      let address = try await find(known, central)
      let input = ConnectInput()
      defer { input.end() }
      let session = ConnectSession(
        central: central, module: DeviceDocument(open.device), address: address, input: input, json: output.json,
        isEscaped: !raw && Style.standardOutput.isTerminal)
      defer { session.endLine() }
      do throws(HM10CentralError) {
        try await session.run(events, isDual: dual, linger: linger?.duration ?? .seconds(1))
      } catch {
        throw error.accessoryError
      }
    }
  }

  /// Whom the user means, found.
  private func find(_ known: [HM10Neighbour], _ central: HM10Central) async throws -> BluetoothAddress {
    guard let address = BluetoothAddress(target) else {
      let number = Int(target) ?? 0
      guard known.indices.contains(number - 1) else {
        throw AccessoryError(
          .notFound,
          known.isEmpty
            ? "there was no scan with this module: bridge-cli scan shows what is there"
            : "the last scan showed \(known.count) devices: there is no number \(number)")
      }
      return known[number - 1].address
    }
    if known.contains(where: { $0.address == address }) { return address }
    let events = await central.events()
    let time = timeout?.duration ?? .seconds(10)
    let wait = WaitingLine.shared.begin("searching for \(address)", limit: time)
    defer { WaitingLine.shared.end(wait) }
    let search = Task { () -> AccessoryError? in
      do throws(AccessoryError) {
        try await central.search(for: time)
        return nil
      } catch {
        return error
      }
    }
    search: for await event in events {
      switch event {
      case .found(let neighbour) where neighbour.address == address: break search
      case .searchEnded: break search
      default: break
      }
    }
    search.cancel()
    if let failure = await search.value { throw failure }
    return address
  }
}

/// A connection through a module, with somebody or something at the other end of standard input and output.
final class ConnectSession: Sendable {
  let central: HM10Central
  let module: DeviceDocument
  let address: BluetoothAddress
  let input: ConnectInput
  let json: Bool
  /// Whether what comes is made harmless for a terminal.
  let isEscaped: Bool

  /// What ends it from outside.
  private enum End: Sendable {
    case input, escape
  }

  private static let escape: UInt8 = 0x1D

  /// Connects, and passes bytes on until the input ends, or the connection for good.
  func run(
    _ events: AsyncStream<HM10CentralEvent>, isDual: Bool, linger: Duration
  ) async throws(HM10CentralError) {
    let (ends, continuation) = AsyncStream<End>.makeStream()
    let receiving = Task { await receive(events) }
    defer { receiving.cancel() }
    do {
      try await central.connect(to: address, isDual: isDual)
    } catch {
      // What was told until now is shown before the error is.
      receiving.cancel()
      _ = await receiving.value
      throw error
    }
    let sending = Task { await send(continuation) }
    defer { sending.cancel() }
    let outcome: HM10CentralError? = await withTaskGroup(of: HM10CentralError?.self) { group in
      group.addTask { [self] in
        // Ends when the connection does, or all is cancelled.
        await receiving.value ? .failed(AccessoryError(.disconnected, "the connection to \(address) was lost")) : nil
      }
      group.addTask { [self] in
        for await end in ends {
          if end == .input { await quiet(linger) }
          return nil
        }
        return nil
      }
      let first = await group.next() ?? nil
      receiving.cancel()
      group.cancelAll()
      continuation.finish()
      return first
    }
    // By a task of its own: one that is interrupted sends nothing any more.
    if outcome == nil { await Task { [self] in try? await central.disconnect(from: address) }.value }
    if let outcome { throw outcome }
  }

  private func send(_ ends: AsyncStream<End>.Continuation) async {
    while let bytes = await input.next() {
      if Task.isCancelled { return }
      let escape = input.isTerminal ? bytes.firstIndex(of: Self.escape) : nil
      let rest = Array(bytes[..<(escape ?? bytes.count)])
      do throws(HM10CentralError) {
        if !rest.isEmpty { try await central.send(rest, to: address) }
      } catch {
        note("not_sent", "\(rest.count) bytes were not sent: \(error.accessoryError.message)")
      }
      if escape != nil {
        ends.yield(.escape)
        return
      }
    }
    ends.yield(.input)
  }

  /// Waits until nothing has come for so long.
  private func quiet(_ time: Duration) async {
    let clock = IOThread.shared
    while !Task.isCancelled {
      let last = lastArrival.withLock { $0 }
      let left = last + time - clock.now
      if left <= .zero { return }
      await clock.sleep(for: left)
    }
  }

  /// Whether what was printed last didn't end its line.
  private let isAmidLine = Locked(false)
  /// When something came last.
  private let lastArrival = Locked(IOThread.shared.now)
  /// What comes as text, and how often something has come.
  private let received = Locked((text: ReceivedText(), count: 0))
  /// How long a character of several bytes waits for its rest.
  private static let patience = Duration.milliseconds(50)

  init(
    central: HM10Central, module: DeviceDocument, address: BluetoothAddress, input: ConnectInput, json: Bool,
    isEscaped: Bool
  ) {
    self.isEscaped = isEscaped
    self.module = module
    self.central = central
    self.address = address
    self.input = input
    self.json = json
  }

  /// Shows what happens; true when the connection is given up.
  private func receive(_ events: AsyncStream<HM10CentralEvent>) async -> Bool {
    for await event in events {
      switch event {
      case .received(let bytes, _):
        lastArrival.withLock { $0 = IOThread.shared.now }
        if json {
          Output.json(
            ConnectionDocument(
              event: "received", device: module, address: address.description, hex: OrNull(Hexadecimal.string(bytes))))
        } else if isEscaped {
          showEscaped(bytes)
        } else {
          Output.bytes(bytes)
          isAmidLine.withLock { $0 = bytes.last != UInt8(ascii: "\n") }
        }
      case .connected(_, let isAgain):
        // Time begins now, whatever came before.
        lastArrival.withLock { $0 = IOThread.shared.now }
        let leave = input.isTerminal && !isAgain ? "; Ctrl-] ends it" : ""
        note(isAgain ? "connected_again" : "connected", "connected\(isAgain ? " again" : "") to \(address)\(leave)")
      case .attemptFailed(_, let error, let left):
        let next =
          left == 0 ? "" : left > 1_000_000 ? ", trying again" : ", \(left) more \(left == 1 ? "try" : "tries")"
        note("attempt_failed", error.message + next)
      case .lost: note("lost", "the connection was lost")
      case .gaveUp:
        note("gave_up", "the connection is given up")
        return true
      default: break
      }
    }
    return false
  }

  /// Shows bytes as text in which nothing is left that a terminal would act on.
  private func showEscaped(_ bytes: [UInt8]) {
    let (pieces, pending) = received.withLock { received in
      received.count += 1
      return (received.text.take(bytes), received.text.isPending ? received.count : nil)
    }
    show(pieces)
    guard let pending else { return }
    let clock = IOThread.shared
    _ = clock.schedule(at: clock.now + Self.patience) { [weak self] in
      self?.flush(ifCount: { $0 == pending })
    }
  }

  /// Shows what waits for its rest.
  private func flush(ifCount isRight: (Int) -> Bool = { _ in true }) {
    show(received.withLock { isRight($0.count) ? $0.text.flush() : [] })
  }

  private func show(_ pieces: [ReceivedText.Piece]) {
    for piece in pieces {
      switch piece {
      case .text(let text): Output.text(text)
      case .newline: Output.text("\n")
      }
      isAmidLine.withLock { $0 = piece != .newline }
    }
  }

  /// On a terminal what comes next is not behind what the other side sent.
  func endLine() {
    flush()
    let isAmid = isAmidLine.withLock { isAmid in
      defer { isAmid = false }
      return isAmid
    }
    if isAmid, Style.standardOutput.isTerminal { Output.text("\n") }
  }

  private func note(_ event: String, _ text: String) {
    if json {
      Output.json(ConnectionDocument(event: event, device: module, address: address.description, message: OrNull(text)))
    } else {
      endLine()
      Output.note(SafeText.escape(text, limit: 400))
    }
  }
}

struct ConnectionDocument: Encodable {
  let schema = DocumentSchema.name
  let event: String
  let time = WallClock.seconds
  /// The module.
  let device: DeviceDocument
  let address: String
  var message = OrNull<String>(nil)
  var hex = OrNull<String>(nil)
}
