// SPDX-License-Identifier: Apache-2.0

import AccessoryBridge
import Glibc
import TestSupport
import Testing

/// The example, at a terminal, with a serial port that the test plays.
@Suite("The example ModuleTerminal", .timeLimit(.minutes(Patience.minutes(2)))) struct ModuleTerminalTests {
  @Test func linesGoOutAndWhatComesIsPrinted() async throws {
    let place = try Place()
    let port = try openPseudoTerminal(raw: true)
    let tests = linkTarget("/proc/self/exe") ?? ""
    let folder = "/" + tests.split(separator: "/").dropLast().joined(separator: "/")
    let variables = ["XDG_RUNTIME_DIR": place.runtime.path, "ACCESSORY_BRIDGE_SOURCES": "simulator"]
    let program = try TerminalProgram(
      [folder + "/ModuleTerminal", port.path], environment: variables, directory: place.runtime.path)
    let state = try await program.state.wait { $0.text.contains("connected to ") || $0.status != nil }
    #expect(state.status == nil, "\(state.text)")
    program.type("hello\nagain\n")
    #expect(try await port.read(14) == Array("hello\r\nagain\r\n".utf8))
    try await port.write(Array("an answer\r\n".utf8))
    try await program.state.wait { $0.text.contains("an answer") }
    port.unplug()
    let end = try await program.state.wait { $0.status != nil }
    #expect(end.status == 0 && end.text.contains("disconnected: "), "\(end.text)")
  }
}
