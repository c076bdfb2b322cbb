// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import Glibc
import TestSupport
import Testing

@testable import BridgeService

/// Who may read needn't be able to act: each method of the interface is in one of these lists, and is answered or refused
/// on the socket for readings as that says. On the other socket all are answered.
@Suite(.timeLimit(.minutes(Patience.minutes(2)))) struct AccessTests {
  private static let reading = [
    "Service", "List", "Info", "Status", "Battery", "Values", "History", "Commands", "Subscribe",
    // For the commands that the configuration permits: PermittedCommandTests.
    "Perform",
  ]
  private static let acting = [
    "Request", "ListFolder", "MakeFolder", "Remove", "GetFile", "SendFile", "SupplyFile", "Trace", "Open", "Share",
    "LineFacts", "ChangeLine", "ModemLines", "SetModemLines", "SetBreak", "Purge", "Attach", "Expect", "Detach",
    "Name", "Forget",
  ]
  private static let introspection = ["GetInfo", "GetInterfaceDescription"]

  @Test func eachMethodIsInOneList() throws {
    let all = try InterfaceDescription(Bridge.text).methods.keys
    #expect(all.sorted() == (Self.reading + Self.acting).sorted())
    for (names, isPermitted) in [(Self.reading, true), (Self.acting, false)] {
      for name in names {
        #expect(SocketAccess.readings.permits("accessorybridge.Bridge." + name) == isPermitted, "\(name)")
        #expect(SocketAccess.everything.permits("accessorybridge.Bridge." + name), "\(name)")
      }
    }
    for name in ["accessorybridge.Bridge.New", "accessorybridge.Bridge", "List", "", "org.varlink.service.New"] {
      #expect(!SocketAccess.readings.permits(name))
    }
  }

  /// Calls in every form, on both sockets, without parameters and with those that a method needs: what is refused is refused
  /// before its parameters are looked at.
  @Test(arguments: ["", #","more":true"#, #","upgrade":true"#, #","more":true,"upgrade":true"#])
  func actingMethodsAreDeniedOnTheReadingsSocket(form: String) async throws {
    try await ServiceHarness.with { harness in
      try await harness.simulate("S1")
      try await harness.attached("S1")
      for name in Self.reading + Self.acting {
        let call = #"{"method":"accessorybridge.Bridge.\#(name)"\#(form)}"#
        let denied = "accessorybridge.Bridge.PermissionDenied"
        let read = try await Self.firstAnswer(call, at: harness.readingsPath)
        #expect((read["error"]?.text == denied) == Self.acting.contains(name), "\(name)\(form): \(read)")
        if Self.acting.contains(name) {
          #expect(read["parameters"]?["message"]?.text?.contains(harness.path) == true, "\(name): \(read)")
        }
        // Lent, it would be busy for the next.
        guard !["Open", "Share", "Detach"].contains(name) else { continue }
        let acted = try await Self.firstAnswer(call, at: harness.path)
        #expect(acted["error"]?.text != denied, "\(name)\(form): \(acted)")
      }
      for name in Self.introspection {
        let call = #"{"method":"org.varlink.service.\#(name)","parameters":{"interface":"accessorybridge.Bridge"}}"#
        let plain = name == "GetInfo" ? #"{"method":"org.varlink.service.GetInfo"}"# : call
        let answers = try await [harness.path, harness.readingsPath].asyncMap {
          try await Self.firstAnswer(plain, at: $0)
        }
        #expect(answers[0] == answers[1] && answers[0]["error"] == nil)
      }
      #expect(try await harness.state("S1") == .attached)
    }
  }

  /// The readings themselves are the same.
  @Test func readingsAreTheSame() async throws {
    try await ServiceHarness.with { harness in
      try await harness.simulate("S1") { $0.device.battery.percent = 57 }
      try await harness.attached("S1")
      let (client, reader) = (try await harness.client(), try await harness.reader())
      #expect(try await reader.call(Bridge.GetBattery()).battery.percent == 57)
      #expect(try await reader.call(Bridge.GetStatus()).status == client.call(Bridge.GetStatus()).status)
      #expect(try await reader.call(Bridge.List()).accessories.map(\.device.id) == ["S1"])
      #expect(try await reader.call(Bridge.GetInfo()).accessory.device.id == "S1")
      let service = try await reader.call(Bridge.GetService())
      #expect(service.socket == harness.path && service.readings_socket == harness.readingsPath && service.clients == 2)
      var events: [Bridge.EventName] = []
      for try await event in try await harness.reader().stream(Bridge.Subscribe()) {
        events.append(event.event)
        if event.event == .ready { break }
      }
      #expect(events == [.present, .ready])
    }
  }

  /// The limits of clients hold for both sockets together.
  @Test func limitsAreForBothSockets() async throws {
    var limits = ControlServer.Limits()
    (limits.clients, limits.reservedClients) = (2, 0)
    try await ServiceHarness.with(limits: limits) { harness in
      // Those who are busy make no room for others.
      let places = [harness.path, harness.readingsPath]
      let readyCount = Watched(0)
      let busy = places.map { place in
        Task {
          let client = try await ControlClient.connect(to: place)
          for try await event in try client.stream(Bridge.Subscribe()) where event.event == .ready {
            readyCount.update { $0 += 1 }
          }
        }
      }
      try await readyCount.wait { $0 == places.count }
      for place in places {
        let answer = try await Self.firstAnswer(#"{"method":"accessorybridge.Bridge.List"}"#, at: place)
        #expect(answer["error"]?.text == "accessorybridge.Bridge.LimitReached")
      }
      for task in busy { task.cancel() }
    }
  }

  private static func firstAnswer(_ call: String, at place: String) async throws -> JSON {
    let client = try RawClient(path: place)
    defer { client.close() }
    client.send(call)
    return try await client.answer()
  }
}

extension JSON {
  fileprivate subscript(name: String) -> JSON? { fields?[name] }
}

extension Sequence {
  fileprivate func asyncMap<Value>(_ body: (Element) async throws -> Value) async throws -> [Value] {
    var values: [Value] = []
    for element in self { values.append(try await body(element)) }
    return values
  }
}
