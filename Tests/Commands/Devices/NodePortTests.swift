// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import Glibc
import TestSupport
import Testing

/// A device that is a serial port of an ESPHome node, which the test plays: `esphome://HOST/PORT`.
@Suite(.timeLimit(.minutes(Patience.minutes(10)))) struct NodePortTests {
  private static let key = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="

  /// A simulated pack, and a node that has it at its first port.
  private func node(_ box: Sandbox, _ made: NodeConversation.Node = .init()) async throws -> FakeNode {
    let pack = try await box.simulate(kind: "jbd", "--percent", "57")
    let wire = try await DescriptorTransport.open(TerminalConfiguration(path: pack.path, baudRate: 9_600))
    return try await FakeNode(made, wire: wire)
  }

  /// A profile for a port.
  private func profile(_ box: Sandbox, _ place: String, _ more: String = "") throws {
    mkdir(box.directory.path + "/profiles", 0o700)
    let text = "name: garage\ndriver: jbd\nmatch: {path: \"\(place)\"}\n\(more)\n"
    try box.directory.write(Array(text.utf8), to: "profiles/garage.yaml")
  }

  @Test func aPackAnswersThroughANode() async throws {
    try await Sandbox.with { box in
      let node = try await node(box)
      for place in ["esphome://\(node.address)/0", "esphome://\(node.address)/Battery", "esphome:\(node.address)"] {
        let battery = try await box.run("battery", place, "--driver", "jbd", "--json")
        #expect(battery.status == 0, "\(battery.errorText)")
        #expect(try battery.json()["battery"]?["percent"] == 57)
        let device = try battery.json()["device"]
        #expect(device?["ways"] == ["esphome"] && device?["source"] == "named")
      }
      // The line is set as the driver has it, and as somebody asks for it.
      let info = try await box.run("info", "esphome://\(node.address)/0", "--driver", "jbd", "--baud", "19200")
      #expect(info.status == 0 && info.outputText.contains("19200 baud"), "\(info.errorText)")
      let heard = try await node.wait { $0.hasLeft }
      #expect(heard.heard.first { $0.id == 138 }?.numbers[1] == 19_200)
      let bridge = try box.start(
        ["bridge", "esphome://\(node.address)/0", "--driver", "jbd", "--unix", "./line"], limit: Sandbox.longLife)
      try await bridge.line(containing: "line is open")
      let shared = try await box.run("battery", "unix:./line", "--driver", "jbd", "--json")
      #expect(try shared.json()["battery"]?["percent"] == 57)
      node.close()
    }
  }

  @Test func theKeyComesFromAFile() async throws {
    try await Sandbox.with { box in
      var made = NodeConversation.Node()
      made.key = Array(0...31)
      let node = try await node(box, made)
      let place = "esphome://\(node.address)/0"
      try box.directory.write(Array(Self.key.utf8), to: "key")
      let battery = try await box.run("battery", place, "--driver", "jbd", "--key-file", "key", "--json")
      #expect(battery.status == 0, "\(battery.errorText)")
      let without = try await box.run("battery", place, "--driver", "jbd")
      #expect(without.status == EX_CONFIG && without.errorText.contains("--key-file"))
      try box.directory.write(Array(Self.key.utf8), to: "open", mode: 0o644)
      let open = try await box.run("battery", place, "--driver", "jbd", "--key-file", "open")
      #expect(open.status == EX_CONFIG && open.errorText.contains("may be read or written by everybody"))
      // With a profile nothing need be said.
      try profile(box, place, "transport: {esphome: {key_file: \(box.directory.path)/key}}")
      let named = try await box.run("battery", place, "--json")
      #expect(named.status == 0, "\(named.errorText)")
      // The key isn't shown where other programs have it.
      let typed = try await box.run("battery", place + "?key=" + Self.key, "--driver", "jbd")
      #expect(typed.status == EX_USAGE && typed.errorText.contains("--key-file") && !typed.errorText.contains(Self.key))
      node.close()
    }
  }

  @Test func theServiceOpensThePortAgain() async throws {
    try await Sandbox.with { box in
      let node = try await node(box)
      let place = "esphome://\(node.address)/0"
      try profile(box, place)
      try box.directory.write(Array("devices:\n  - \"\(place)\"\n".utf8), to: "network.yaml")
      let service = try box.start(["serve", "--devices", "network.yaml"], limit: Sandbox.longLife)
      try await service.transcript.wait { $0.errorText.contains(" is attached at ") || $0.status != nil }
      node.say { $0.frame(5) }
      try await service.transcript.wait { $0.errorText.count(of: " is attached at ") > 1 || $0.status != nil }
      #expect(service.transcript.value.status == nil, "\(service.transcript.value.errorText)")
      node.close()
    }
  }
}

extension String {
  /// How often a text is in this one.
  fileprivate func count(of text: String) -> Int { ranges(of: text).count }
}
