// SPDX-License-Identifier: Apache-2.0

import AccessoryDiscovery
import AccessoryIO
import AccessoryProtocols

/// A pretended EV3 brick, on a pseudo-terminal, on the network, or as a USB device.
public actor EV3Simulator {
  /// What it is connected by.
  public enum Connection: Sendable {
    /// A terminal that looks like Bluetooth's serial port, and is announced.
    case pseudoTerminal
    /// A USB port of `host`, as the HID device that a brick is.
    case usb(host: any USBHost = KernelHost())
    /// The network: it listens at this address, where port 0 takes any that is free, and is announced.
    case network(host: String = "127.0.0.1", port: UInt16 = 5_555)
  }

  /// How fast it is, and what happens to hosts that don't care.
  public struct Pace: Sendable, Hashable {
    /// Time that every message takes.
    public var perMessage = Duration.zero
    /// With more messages waiting than this, it drops the link; nil never does.
    public var mostMessages: Int?
    /// The same for the bytes of these.
    public var mostBytes: Int?

    /// A brick that takes all there is.
    public init() {}

    /// A brick that needs 2 ms a message and has room for eight of them, or 4096 bytes: then it drops the link.
    public static var overrun: Pace {
      var pace = Pace()
      pace.perMessage = .milliseconds(2)
      pace.mostMessages = 8
      pace.mostBytes = 4_096
      return pace
    }
  }

  /// What to pretend.
  public struct Configuration: Sendable {
    /// What it is connected by.
    public var connection = Connection.pseudoTerminal
    /// The brick.
    public var device = EV3Device.Configuration()
    /// How fast it is.
    public var pace = Pace()
    /// What goes wrong. Of these, a brick knows `drop`, `corrupt`, `delay`, `unplug` and `replug`.
    public var faults = Faults()
    /// Whether files stay open when the host goes.
    public var keepsHandles = true
    /// Repeats everything that is random.
    public var seed: UInt64
    /// Where to keep a link to the pseudo-terminal.
    public var link: String?
    /// Whether others are told of it.
    public var isAnnounced = true
    /// Where to announce it; nil for the user's own directory, where others look.
    public var announcementDirectory: String?

    /// A brick in good order.
    public init(seed: UInt64 = .random(in: 0 ... .max)) { self.seed = seed }
  }

  /// What happens to it.
  public enum Event: Sendable, Hashable {
    /// It can be opened at this path: a terminal, a USB device's place in sysfs, or `tcp:HOST:PORT`.
    case pluggedIn(path: String)
    /// It is gone.
    case unplugged
    /// It dropped the link: more was sent than it has room for.
    case overrun
  }

  private nonisolated let executor = DispatchExecutor(label: "accessory.simulator.ev3")
  private nonisolated let io: IOThread
  private nonisolated let clock: any TimerClock
  private let configuration: Configuration
  /// What happens to it. For one reader; ends with `stop`.
  public nonisolated let events: AsyncStream<Event>
  private let continuation: AsyncStream<Event>.Continuation

  /// The brick itself.
  public private(set) var device: EV3Device
  /// Messages that it has taken in all.
  public private(set) var messageCount = 0
  /// How often it dropped the link since too much waited.
  public private(set) var overruns = 0
  private var line: FaultyLine
  private var codec = EV3Limits.codec
  private var batch = FrameBatch<LengthPrefix>()
  private var buffer: [UInt8] = []
  private var pieces: [Int] = []
  private var socket: EV3Socket?
  /// Where it was found on the network, and is found again.
  private var port: UInt16?
  private var plugCount = 0
  private var arrivals = 0
  private var isStopped = false
  /// What has arrived and has not been looked at, with their bytes.
  private var waiting: [(message: EV3Message, byteCount: Int)] = []
  private var waitingBytes = 0
  private var isBusy = false
  private var wakeTime: MonotonicTime?

  /// After this pause an unfinished message is given up: its host has gone.
  private static let patience = Duration.milliseconds(500)

  /// The simulator's dispatch queue.
  public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  /// A brick that isn't connected yet. Its motors and tones go by `clock`, the I/O thread's unless said otherwise.
  public init(_ configuration: Configuration, io: IOThread = .shared, clock: (any TimerClock)? = nil) {
    self.configuration = configuration
    self.io = io
    self.clock = clock ?? io
    line = FaultyLine(faults: configuration.faults, random: SeededGenerator(seed: configuration.seed))
    device = EV3Device(configuration.device)
    (events, continuation) = AsyncStream<Event>.makeStream(bufferingPolicy: .bufferingNewest(1_024))
  }

  // MARK: - Plug and unplug

  /// Connects it, unless it is; returns where. To be called again only when that has returned.
  ///
  /// Throws `ioFailure`, `misconfigured` when the link can't be made, `busy` when another simulator has it, `cancelled`
  /// after `stop`, and what the USB host throws.
  @discardableResult
  public func plugIn() async throws(AccessoryError) -> String {
    if let socket { return socket.path }
    if isStopped { throw AccessoryError(.cancelled, "the simulator was stopped") }
    var configuration = configuration
    if let port, case .network(let host, _) = configuration.connection {
      configuration.connection = .network(host: host, port: port)
    }
    let socket = try await EV3Socket.open(configuration, io: io) { [weak self] client in
      self?.post { $0.welcome(client) }
    }
    guard !isStopped else {
      await socket.close()
      throw AccessoryError(.cancelled, "the simulator was stopped")
    }
    self.socket = socket
    port = NetworkAddress(socket.path)?.port
    plugCount += 1
    forgetHost()
    if let transport = socket.transport { serve(transport) }
    if case .after(let time)? = configuration.faults.unplug { afterThisPlug(time) { $0.unplug() } }
    continuation.yield(.pluggedIn(path: socket.path))
    return socket.path
  }

  /// Pulls the cable, or switches the radio off. It comes back later if its faults say so.
  public func unplug() {
    guard let socket else { return }
    self.socket = nil
    socket.beginClose()
    forgetHost()
    continuation.yield(.unplugged)
    if let time = configuration.faults.replug, !isStopped {
      after(time) { simulator in Task { try? await simulator.plugIn() } }
    }
  }

  /// Disconnects it for good. Returns when all is closed.
  public func stop() async {
    isStopped = true
    let socket = socket
    unplug()
    await socket?.close()
    continuation.finish()
  }

  private func forgetHost() {
    device.hostLeft(keepsHandles: configuration.keepsHandles)
    codec.reset()
    (waiting, waitingBytes) = ([], 0)
  }

  // MARK: - The host

  /// A client has come over the network; a brick has one at a time.
  private func welcome(_ client: DescriptorTransport) {
    guard var socket, socket.transport == nil else { return client.beginClose() }
    socket.greet(client)
    self.socket = socket
    serve(client)
  }

  private func serve(_ transport: any Transport) {
    transport.input.onReadable { [weak self] in self?.post { $0.drain(transport) } }
  }

  private func drain(_ transport: any Transport) {
    while socket?.transport === transport {
      switch transport.input.take(into: &buffer, messages: &pieces) {
      case .nothing: return
      case .end: return lose(transport)
      case .bytes: break
      }
      if socket?.isGreeting == true {
        switch socket?.greeting(buffer) {
        case .accepted(let reply)?: _ = transport.output.offer(reply)
        case .refused?: transport.beginClose()
        case .unfinished?, nil: break
        }
        continue
      }
      decode(keepsMessages: transport.input.keepsMessages)
      takeAll()
      arrivals += 1
      if codec.hasUnfinishedFrame { watchSilence(since: arrivals) }
    }
  }

  /// The host has gone: over the network another one may come; otherwise somebody has pulled the cable.
  private func lose(_ transport: any Transport) {
    guard var socket else { return }
    guard socket.isNetwork else { return unplug() }
    transport.beginClose()
    socket.lose()
    self.socket = socket
    forgetHost()
  }

  private func decode(keepsMessages: Bool) {
    let bytes = buffer
    guard keepsMessages else { return codec.decode(bytes.span.bytes, into: &batch) }
    // A report is a message and what fills it up.
    var start = 0
    for count in pieces {
      let report = bytes[start..<(start + count)]
      start += count
      guard report.count >= 2 else { continue }
      let length = Int(report[report.startIndex]) | Int(report[report.startIndex + 1]) << 8
      let message = Array(report.prefix(2 + length))
      codec.decode(message.span.bytes, into: &batch)
      codec.reset()
    }
  }

  private func watchSilence(since arrival: Int) {
    after(Self.patience) { simulator in
      if simulator.arrivals == arrival { simulator.codec.expire(into: &simulator.batch) }
    }
  }

  // MARK: - Messages

  private func takeAll() {
    let frames = batch
    batch.removeAll()
    for index in 0..<frames.count where frames.outcome(at: index) == .whole && socket != nil {
      // What is longer than the firmware's buffer never was a message.
      let payload = frames.payloadBytes(at: index)
      guard payload.count <= EV3Limits.messageBehindLength, let message = try? EV3Message(decoding: payload) else {
        continue
      }
      waiting.append((message, payload.count + 2))
      waitingBytes += payload.count + 2
      let pace = configuration.pace
      if waiting.count > pace.mostMessages ?? .max || waitingBytes > pace.mostBytes ?? .max {
        overruns += 1
        continuation.yield(.overrun)
        return dropLink()
      }
    }
    if configuration.pace.perMessage == .zero {
      while !waiting.isEmpty, socket != nil { takeNext() }
    } else {
      work()
    }
  }

  private func dropLink() {
    guard let transport = socket?.transport, socket?.isNetwork == true else { return unplug() }
    lose(transport)
  }

  /// Takes one message after the other, each in its time.
  private func work() {
    guard !isBusy, !waiting.isEmpty else { return }
    isBusy = true
    after(configuration.pace.perMessage) { simulator in
      simulator.isBusy = false
      if !simulator.waiting.isEmpty { simulator.takeNext() }
      simulator.work()
    }
  }

  private func takeNext() {
    let (message, byteCount) = waiting.removeFirst()
    waitingBytes -= byteCount
    messageCount += 1
    let replies = device.take(message, now: clock.now)
    if configuration.faults.unplug == .request(messageCount) {
      // Amid the answer, if there is one.
      if let bytes = try? replies.first?.encoded() { offer(Array(bytes[..<(bytes.count / 2)])) }
      return unplug()
    }
    send(replies)
    wakeUp()
  }

  private func send(_ replies: [EV3Message]) {
    for reply in replies {
      guard let bytes = try? reply.encoded(), let frame = line.pass(bytes) else { continue }
      if configuration.faults.delay > .zero {
        afterThisPlug(configuration.faults.delay) { $0.offer(frame) }
      } else {
        offer(frame)
      }
    }
  }

  private func offer(_ bytes: [UInt8]) { _ = socket?.transport?.output.offer(bytes) }

  /// Sees to it that a command that waits goes on at its time.
  private func wakeUp() {
    guard let deadline = device.deadline, wakeTime.map({ deadline < $0 }) ?? true else { return }
    wakeTime = deadline
    _ = clock.schedule(at: deadline) { [weak self] in
      self?.post { simulator in
        if simulator.wakeTime == deadline { simulator.wakeTime = nil }
        simulator.send(simulator.device.timePassed(now: simulator.clock.now))
        simulator.wakeUp()
      }
    }
  }

  // MARK: - What happens to it

  /// Presses a button, or lets it go.
  public func press(_ button: EV3Button, _ isDown: Bool = true) {
    send(device.press(button, isDown, now: clock.now))
    wakeUp()
  }

  /// Changes what a sensor measures.
  public func setSensor(_ port: EV3Port, _ values: [Float]) {
    device.configuration.sensors[port]?.values = Array(values.prefix(8))
  }

  /// Puts a file into the brick.
  public func put(_ bytes: [UInt8], at path: String) { device.files.put(bytes, at: path) }

  // MARK: - Time

  private nonisolated func post(_ body: @escaping @Sendable (isolated EV3Simulator) -> Void) {
    executor.post { self.assumeIsolated(body) }
  }

  private func after(_ time: Duration, _ body: @escaping @Sendable (isolated EV3Simulator) -> Void) {
    _ = io.schedule(at: io.now + time) { [weak self] in self?.post(body) }
  }

  /// As `after`, unless it has been unplugged by then.
  private func afterThisPlug(_ time: Duration, _ body: @escaping @Sendable (isolated EV3Simulator) -> Void) {
    let plug = plugCount
    after(time) { simulator in
      if simulator.plugCount == plug, simulator.socket != nil { body(simulator) }
    }
  }
}
