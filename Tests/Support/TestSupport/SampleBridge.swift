// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryIO

/// A service with one accessory, "X1", for tests of what lies between a client and a service.
package final class SampleBridge: BridgeHandler {
  package struct Seen: Sendable {
    /// Requests that wait for `release`, or to be cancelled.
    package var waiting = 0
    package var cancelled = 0
    package var detached: [String?] = []
    package var subscribers = 0
    package var lent = 0
    /// Of a file: pieces that have been sent.
    package var pieces = 0
    package var returned = 0
    package var callers: [SocketPeer] = []
    package var isReleased = false
  }

  package init() {}

  package let seen = Watched(Seen())
  /// The line beside the bytes that are lent.
  package let line = MemoryLine(label: "X1")
  package let information = ServiceInformation(
    vendor: "Tests", product: "Sample", version: "1", url: "https://example.org/")

  package static let device = Device(
    id: "X1", path: "/dev/ttyACM0", source: .udev, serialNumber: "X1\u{1b}[31m\"\\\n", links: ["/dev/serial/by-id/x"],
    ways: ["terminal"],
    usb: USBIdentity(
      vendorID: 0x1209, productID: 1, bus: 1, address: 2, node: "/dev/bus/usb/001/002", port: "1-1", speed: 1.5,
      interfaces: [
        USBInterface(
          description: USBInterfaceDescription(
            number: 0, alternateSetting: 0, function: USBClass(code: 255),
            endpoints: [
              USBEndpointDescription(
                address: 0x81, transfer: .bulk, maxPacketSize: 512, packetsPerInterval: 1, interval: 0)
            ]))
      ]))
  package static let battery = BatteryReading(
    percent: 57, level: .normal, millivolts: 3_700, milliamperes: -12, charge: .discharging)
  package static let values = [
    Read(AccessoryValue("pv_voltage", quantity: .voltage, unit: .volt, number: 36.2)),
    Read(
      AccessoryValue("mode", quantity: .state, content: .choice(word: "bulk", number: 3)), age: .milliseconds(1_500)),
  ]
  package static let series = ReadingSeries(
    name: ReadingSeries.percent, unit: "%",
    points: [
      .init(time: 1_795_337_580, span: 10, mean: 57.5, least: 57, greatest: 58),
      .init(time: 1_795_337_590, span: 30, nil), .init(time: 1_795_337_620, span: 10, 56),
    ])
  package static let alarm = AccessoryAlarm(
    name: "low", rule: "battery < 60 %", since: 1_795_337_583.5, value: "57 %", number: 57, unit: "%")
  package static let status = AccessoryStatus(state: .idle, progress: 4, reportsFaults: true)
  package static let identity = AccessoryIdentity(
    manufacturer: "Maker", name: "Thing", model: "T", serialNumber: "X1", firmwareRevision: "1.2",
    hardwareRevision: "A")
  package static let accessory = Bridge.Accessory(
    device: device, state: .waiting, tries: 2, holder: "client 12",
    problem: Bridge.Problem(AccessoryError(.busy, "screen has it")), profile: "sample", driver: "framed",
    protocols: ["com.example.a", "com.example.b"])

  package static let service = Bridge.GetService.Reply(
    product: "Sample", version: "1", process: 12, started: 1_795_337_583.125, uptime_ms: 61_000, socket: "/run/sample",
    accessories: 1, attached: 0, clients: 1,
    limits: Bridge.ServiceLimits(accessories: 4, attached: 3, clients: 2, clients_of_one_user: 1))

  package func service(
    _ call: Bridge.GetService, from caller: Caller
  ) async throws(CallError) -> Bridge.GetService.Reply { Self.service }

  private func check(_ device: String?, _ caller: Caller) throws(CallError) {
    seen.update { $0.callers.append(caller.peer) }
    if device == "X" { throw .ambiguousDevice(device, candidates: ["X1", "X2"], "X1 and X2 fit") }
    guard device ?? "X1" == "X1" else {
      throw CallError(AccessoryError(.notFound, "there is no \(device ?? "")"), device: device)
    }
  }

  package func list(_ call: Bridge.List, from caller: Caller) async throws(CallError) -> Bridge.List.Reply {
    try check(nil, caller)
    return Bridge.List.Reply(accessories: [Self.accessory])
  }

  package func info(_ call: Bridge.GetInfo, from caller: Caller) async throws(CallError) -> Bridge.GetInfo.Reply {
    try check(call.device, caller)
    return Bridge.GetInfo.Reply(
      accessory: Self.accessory,
      line: Bridge.Line(
        baud: 115_200, data_bits: 8, stop_bits: 1, parity: "none", flow_control: "none", lowers_lines_on_close: true,
        modem_lines: ["dtr": true], low_latency: false),
      protocol: ProtocolDetails(name: "AF1", bootID: 1, largestPayload: 256, window: 4),
      identity: Self.identity)
  }

  package func status(_ call: Bridge.GetStatus, from caller: Caller) async throws(CallError) -> Bridge.GetStatus.Reply {
    try check(call.device, caller)
    let read = StatusAndIdentity(status: Self.status, identity: Self.identity)
    return Bridge.GetStatus.Reply(device: Self.device, Read(read, age: .milliseconds(3)))
  }

  package func battery(_ call: Bridge.GetBattery, from caller: Caller) async throws(CallError)
    -> Bridge.GetBattery.Reply
  {
    try check(call.device, caller)
    return Bridge.GetBattery.Reply(device: Self.device, Read(Self.battery))
  }

  package func values(_ call: Bridge.GetValues, from caller: Caller) async throws(CallError) -> Bridge.GetValues.Reply {
    try check(call.device, caller)
    return Bridge.GetValues.Reply(device: Self.device, Read(Self.values))
  }

  package func history(
    _ call: Bridge.GetHistory, from caller: Caller
  ) async throws(CallError) -> Bridge.GetHistory.Reply {
    try check(call.device, caller)
    return Bridge.GetHistory.Reply(device: Self.device, series: [Bridge.Series(Self.series)])
  }

  /// "echo" answers the payload, "wait" first waits, "big" answers as many bytes as its payload says.
  package func request(_ call: Bridge.Request, from caller: Caller) async throws(CallError) -> Bridge.Request.Reply {
    try check(call.device, caller)
    var payload = call.payload ?? []
    switch call.command {
    case "echo": break
    case "wait":
      seen.update { $0.waiting += 1 }
      do {
        try await seen.wait { $0.isReleased }
      } catch {
        seen.update { $0.cancelled += 1 }
        throw CallError(AccessoryError(.cancelled, "given up"))
      }
    case "big": payload = Self.pattern(Int(payload.reduce(0) { $0 << 8 | UInt32($1) }))
    default: throw CallError(AccessoryError(.refused, code: .refusal(2), "no such command"), device: "X1")
    }
    return Bridge.Request.Reply(
      device: Self.device, command: call.command, command_byte: 0x12, reply: Bridge.Request.Answer(payload))
  }

  package func commands(
    _ call: Bridge.GetCommands, from caller: Caller
  ) async throws(CallError) -> Bridge.GetCommands.Reply {
    try check(call.device, caller)
    let argument = CommandDescription.Argument("speed", .whole(-100...100), unit: "%", defaultValue: .whole(0))
    let command = CommandDescription("turn", "Turns", [argument], results: [.init("angle", unit: "°")])
    return Bridge.GetCommands.Reply(device: Self.device, driver: "sample", commands: [command])
  }

  /// Answers each command with a value of every kind.
  package func perform(_ call: Bridge.Perform, from caller: Caller) async throws(CallError) -> Bridge.Perform.Reply {
    try check(call.device, caller)
    let text = call.commands.first?.arguments?["speed"] ?? ""
    let values: [PlainValue] = [
      .whole(-1), .number(0.18), .text(text), .list([.nothing]), .bytes([0x00, 0xFF]), .flag(true), .nothing,
    ]
    return Bridge.Perform.Reply(
      device: Self.device, replies: call.commands.map { CommandReply(CommandDescription($0.name, ""), values) })
  }

  package func listFolder(
    _ call: Bridge.ListFolder, from caller: Caller
  ) async throws(CallError) -> Bridge.ListFolder.Reply {
    try check(call.device, caller)
    return Bridge.ListFolder.Reply(
      device: Self.device,
      entries: [.init(call.path, .file, size: 3, md5: "x"), .init("f", .folder)])
  }

  package func makeFolder(
    _ call: Bridge.MakeFolder, from caller: Caller
  ) async throws(CallError) -> Bridge.MakeFolder.Reply {
    try check(call.device, caller)
    return Bridge.MakeFolder.Reply(device: Self.device)
  }

  package func remove(_ call: Bridge.Remove, from caller: Caller) async throws(CallError) -> Bridge.Remove.Reply {
    try check(call.device, caller)
    return Bridge.Remove.Reply(device: Self.device)
  }

  /// A file of as many pieces of a kilobyte as its path says, each of which waits for the client to read.
  package func getFile(
    _ call: Bridge.GetFile, from caller: Caller, _ answers: ReplySender<Bridge.GetFile.Reply>
  ) async throws(CallError) -> Bridge.GetFile.Reply {
    try check(call.device, caller)
    let count = Int(call.path) ?? 0
    seen.update { $0.subscribers += 1 }
    defer { seen.update { $0.subscribers -= 1 } }
    try await answers.send(.init(.begin, size_bytes: count * 1_024))
    for index in 0..<count {
      try await answers.sendWhenRead(.init(Self.pattern(1_024), at: index * 1_024))
      seen.update { $0.pieces = index + 1 }
    }
    var reply = Bridge.GetFile.Reply(.done, size_bytes: count * 1_024)
    (reply.device, reply.resumptions, reply.md5) = (Self.device, 0, "x")
    return reply
  }

  package func sendFile(
    _ call: Bridge.SendFile, from caller: Caller, _ answers: ReplySender<Bridge.SendFile.Reply>
  ) async throws(CallError) -> Bridge.SendFile.Reply {
    try check(call.device, caller)
    var wanted = Bridge.SendFile.Reply(.wanted)
    (wanted.transfer, wanted.offset, wanted.count_bytes, wanted.done_bytes) = ("t", 0, call.size_bytes, 0)
    try await answers.send(wanted)
    try await answers.send(.init(.interrupted))
    var reply = Bridge.SendFile.Reply(.done)
    (reply.device, reply.resumptions) = (Self.device, 1)
    return reply
  }

  package func supplyFile(
    _ call: Bridge.SupplyFile, from caller: Caller
  ) async throws(CallError) -> Bridge.SupplyFile.Reply {
    guard call.transfer == "t" else { throw .invalidParameter("transfer") }
    return Bridge.SupplyFile.Reply()
  }

  package func attach(_ call: Bridge.Attach, from caller: Caller) async throws(CallError) -> Bridge.Attach.Reply {
    try check(call.device, caller)
    return Bridge.Attach.Reply(accessory: Self.accessory)
  }

  package func expect(_ call: Bridge.Expect, from caller: Caller) async throws(CallError) -> Bridge.Expect.Reply {
    try check(call.device, caller)
    return Bridge.Expect.Reply()
  }

  package func detach(_ call: Bridge.Detach, from caller: Caller) async throws(CallError) -> Bridge.Detach.Reply {
    seen.update { $0.detached.append(call.device) }
    return Bridge.Detach.Reply(device: Self.device)
  }

  package func name(_ call: Bridge.Name, from caller: Caller) async throws(CallError) -> Bridge.Name.Reply {
    Bridge.Name.Reply(device: Self.device.called(GivenName(name: call.name, area: call.area)))
  }

  package func forget(_ call: Bridge.Forget, from caller: Caller) async throws(CallError) -> Bridge.Forget.Reply {
    Bridge.Forget.Reply(device: Self.device)
  }

  /// The age that its events tell.
  package static let age = Bridge.ReadingsAge(oldest: .milliseconds(1_500), fresh: .seconds(8))

  /// Tells of everything there can be, and goes on for ever; for "X1" it ends instead.
  package func subscribe(
    _ call: Bridge.Subscribe, from caller: Caller, _ answers: ReplySender<Bridge.Event>
  ) async throws(CallError) {
    try check(call.device, caller)
    seen.update { $0.subscribers += 1 }
    defer { seen.update { $0.subscribers -= 1 } }
    for (index, name) in Bridge.EventName.allCases.enumerated() {
      var event = Bridge.Event(
        name, time: 1.5 + Double(index), device: Self.device, battery: Self.battery, status: Self.status,
        problem: Bridge.Problem(.disconnected("X1")), values: Self.values, alarm: Self.alarm, state: .raised)
      if name.isReading { event.readingsAge = Self.age }
      try await answers.send(event)
    }
    guard call.device == nil else { return }
    _ = try? await seen.wait { $0.isReleased }
  }

  /// Sends as fast as it can until nobody takes it.
  package func trace(
    _ call: Bridge.Trace, from caller: Caller, _ answers: ReplySender<Bridge.TracePiece>
  ) async throws(CallError) {
    try check(call.device, caller)
    seen.update { $0.subscribers += 1 }
    defer { seen.update { $0.subscribers -= 1 } }
    var sent = 0
    while call.device == nil || sent < 1_000 {
      try await answers.send(
        Bridge.TracePiece(time: Double(sent), direction: .fromDevice, bytes: Self.pattern(1_024), lost_bytes: 1))
      sent += 1
    }
  }

  package func onLine<Method: LineMethod>(
    _ call: Method, from caller: Caller
  ) async throws(CallError) -> Method.Reply {
    let (lent, returned) = (seen.value.lent, seen.value.returned)
    guard lent > returned, call.loan == "loan \(lent)" else {
      throw CallError(AccessoryError(.notFound, "there is no such loan"))
    }
    do throws(AccessoryError) {
      return try await call.perform(on: line)
    } catch {
      throw CallError(error, device: "X1")
    }
  }

  /// Lends a loop-back, and a line in memory.
  package func share(_ call: Bridge.Share, from caller: Caller) async throws(CallError) -> OpenResult {
    try await open(Bridge.Open(device: call.device, write: call.write == true), from: caller)
  }

  package func open(_ call: Bridge.Open, from caller: Caller) async throws(CallError) -> OpenResult {
    try check(call.device, caller)
    if seen.value.lent > seen.value.returned {
      throw CallError(AccessoryError(.busy, "X1 is lent"), device: "X1", holder: "client 12")
    }
    let number = seen.update { seen -> Int in
      seen.lent += 1
      return seen.lent
    }
    let reply = Bridge.Open.Reply(
      device: Self.device, loan: "loan \(number)", line: Bridge.Line(line.state.value.status))
    return OpenResult(reply) { [seen] transport in
      let readable = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
      transport.input.onReadable { readable.continuation.yield() }
      transport.output.onSpace { readable.continuation.yield() }
      var bytes: [UInt8] = []
      var waiting: [UInt8] = []
      loop: for await _ in readable.stream {
        while true {
          if waiting.isEmpty {
            switch transport.input.take(into: &bytes) {
            case .bytes: waiting = bytes
            case .nothing: continue loop
            case .end: break loop
            }
          }
          switch transport.output.offer(waiting) {
          case .accepted: waiting = []
          case .full: continue loop
          case .closed: break loop
          }
        }
      }
      seen.update { $0.returned += 1 }
    }
  }

  /// Bytes in which a loss, a repetition or a change of order shows.
  package static func pattern(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 % 251) } }
}
