// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import AccessoryIO
import AccessoryLink
import TestSupport
import Testing

/// A battery that takes words: "read" asks for something, "cut" changes something in it. It answers nothing.
struct Pack: LinkedAccessory {
  let link: Link<LineExchange>

  static let driver = Driver(
    name: "pack",
    commands: [
      CommandDescription("read", "Asks for something"),
      CommandDescription(
        "cut", "Cuts the current", [.init("seconds", .whole(1...9), defaultValue: .whole(1))], isWrite: true),
    ], rawBytes: .guarded,
    preview: { calls, _ throws(AccessoryError) in calls.map { bytes(of: $0) } }
  ) { session, _, _ throws(AccessoryError) in
    Pack(link: try await Link.open(session, rules: LineExchange(label: session.label)))
  }

  static func bytes(of call: CommandCall) -> [UInt8] {
    Array((call.command.name + (call.command.isWrite ? " \(call.whole("seconds"))" : "") + "\n").utf8)
  }

  func perform(_ calls: [CommandCall], isAnswered: Bool) async throws(AccessoryError) -> [CommandReply] {
    for call in calls {
      // A driver of a protocol with writes sees to it, too.
      guard !call.command.isWrite || call.isPermitted else {
        throw AccessoryError(.permissionDenied, "the driver was given a write that nobody has permitted")
      }
      _ = try await link.request(LineRequest(Self.bytes(of: call), name: call.command.name))
    }
    return calls.map { CommandReply($0.command) }
  }

  func request(_ code: UInt8, payload: [UInt8]) async throws(AccessoryError) -> [UInt8] {
    _ = try await link.request(LineRequest([code] + payload, name: "bytes"))
    return []
  }

  static func profile(allowsWrites: Bool) -> Profile {
    var profile = Profile(
      name: "my-pack", rules: [DeviceRule(driver: "pack")], driver: "pack", protocolStrings: ["com.example.pack"])
    profile.allowsWrites = allowsWrites
    return profile
  }

  static let library = DriverLibrary([Pack.driver, .af1])
}

/// The pack's end of the line: all that has arrived there.
struct PackEnd: Sendable {
  let terminal: PseudoTerminal
  let arrived = Watched<[UInt8]>([])

  init() async throws {
    terminal = try await PseudoTerminal.open()
    let (transport, arrived) = (terminal.transport, arrived)
    transport.input.onReadable { [weak transport] in
      var bytes: [UInt8] = []
      while let transport, case .bytes = transport.input.take(into: &bytes) {
        arrived.update { [bytes] in $0 += bytes }
      }
    }
  }

  var text: String { String(decoding: arrived.value, as: UTF8.self) }

  /// Waits until `text` has arrived; fails when anything else did before it.
  func expect(_ text: String, _ location: SourceLocation = #_sourceLocation) async throws {
    let all = try await arrived.wait { $0.count >= text.utf8.count }
    #expect(String(decoding: all, as: UTF8.self) == text, sourceLocation: location)
  }
}
