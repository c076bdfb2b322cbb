// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import AccessoryFamilies
import AccessorySimulator
import Testing

/// Conversations with a simulated ELM327, byte by byte.
@Suite struct ELM327Tests {
  /// A line that is sent, without the carriage return, and all that comes back.
  typealias Turn = (sent: String, received: String)

  private func device() throws -> DescribedDevice {
    let description = try #require(DescriptionLibrary.builtIn.described("elm327")).description
    var device = try DescribedDevice(description, serialNumber: "SIM0001")
    _ = device.start()
    return device
  }

  private func received(_ device: inout DescribedDevice, _ bytes: [UInt8]) -> String {
    String(
      decoding: device.take(bytes).flatMap { if case .send(let sent) = $0 { sent } else { [UInt8]() } }, as: UTF8.self)
  }

  private func converse(_ turns: [Turn]) throws {
    var device = try device()
    for turn in turns {
      let received = received(&device, Array((turn.sent + "\r").utf8))
      #expect(received == turn.received, "\(turn.sent)")
    }
  }

  /// The lines that python-OBD 0.7.3 sends until it is connected, and its first questions.
  @Test func anELM327AnswersPythonOBD() throws {
    try converse([
      ("\u{7F}\u{7F}", "\u{7F}\u{7F}\r?\r\r>"),
      ("ATZ", "ATZ\r\r\rELM327 v1.5\r\r>"),
      ("ATE0", "ATE0\rOK\r\r>"),
      ("ATH1", "OK\r\r>"),
      ("ATL0", "OK\r\r>"),
      ("AT RV", "13.1V\r\r>"),
      ("ATSP0", "OK\r\r>"),
      ("0100", "SEARCHING...\r7E8 06 41 00 08 10 00 01 \r\r>"),
      ("ATDPN", "A6\r\r>"),
      ("0120", "7E8 06 41 20 00 02 00 01 \r\r>"),
      ("0140", "7E8 06 41 40 40 00 00 00 \r\r>"),
      ("0600", "NO DATA\r\r>"),
      ("AT SH 7E0 ", "OK\r\r>"),
      ("010C", "7E8 04 41 0C 14 5F \r\r>"),
      ("01051", "7E8 03 41 05 7B \r\r>"),
    ])
  }

  @Test func itSaysThatItDoesNotKnowACommand() throws {
    try converse([
      ("XX", "XX\r?\r\r>"), ("ATXX", "ATXX\r?\r\r>"), ("ATSPZ", "ATSPZ\r?\r\r>"), ("ATE0", "ATE0\rOK\r\r>"),
      ("hello", "?\r\r>"), ("ATI", "ELM327 v1.5\r\r>"),
    ])
  }

  /// Spaces, headers, the echo and line feeds, on and off; a reset sets them as they were.
  @Test func settingsOfAnELM327LastUntilAReset() throws {
    try converse([
      ("010C", "010C\r41 0C 14 5F \r\r>"),
      ("ATS0", "ATS0\rOK\r\r>"),
      ("010C", "010C\r410C145F\r\r>"),
      ("ATH1", "ATH1\rOK\r\r>"),
      ("010C", "010C\r7E804410C145F\r\r>"),
      ("ATS1", "ATS1\rOK\r\r>"),
      ("at e0", "at e0\rOK\r\r>"),
      ("0142", "7E8 04 41 42 39 4B \r\r>"),
      ("ATH0", "OK\r\r>"),
      ("ATL1", "OK\r\n\r\n>"),
      ("ATE1", "OK\r\n\r\n>"),
      ("ATZ", "ATZ\r\n\r\rELM327 v1.5\r\r>"),
      ("0105", "0105\r41 05 7B \r\r>"),
    ])
  }

  @Test func theCarsBusIsSearchedOrChosen() throws {
    try converse([
      ("ATE0", "ATE0\rOK\r\r>"), ("ATDPN", "A6\r\r>"), ("ATDP", "AUTO, ISO 15765-4 (CAN 11/500)\r\r>"),
      ("ATSP3", "OK\r\r>"), ("ATDPN", "3\r\r>"), ("0105", "UNABLE TO CONNECT\r\r>"),
      ("ATTP6", "OK\r\r>"), ("0105", "41 05 7B \r\r>"), ("ATDPN", "6\r\r>"),
      ("ATSPA3", "OK\r\r>"), ("0105", "SEARCHING...\r41 05 7B \r\r>"), ("0105", "41 05 7B \r\r>"), ("ATDPN", "A6\r\r>"),
    ])
  }

  /// A line in pieces; zeros and line feeds in it; an empty line, which repeats the last one.
  @Test func anELM327ReadsLinesInPiecesAndEmptyOnes() throws {
    var device = try device()
    #expect(received(&device, Array("AT".utf8)) == "")
    #expect(received(&device, [0, 0x0A] + Array("RV\rATE0\r".utf8)) == "ATRV\r13.1V\r\r>ATE0\rOK\r\r>")
    #expect(received(&device, Array("010C\r\r".utf8)) == "41 0C 14 5F \r\r>41 0C 14 5F \r\r>")
    #expect(received(&device, [UInt8](repeating: 0x41, count: 5_000) + [0x0D]) == "?\r\r>")
    #expect(received(&device, Array("ATRV\r".utf8)) == "13.1V\r\r>")
  }
}
