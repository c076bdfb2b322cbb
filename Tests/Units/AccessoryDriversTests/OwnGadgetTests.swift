// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import AccessoryLink
import AccessoryProtocols
import Glibc
import TestSupport
import Testing

/// The example of Documentation/own-gadget.md, as the program that it is, at a terminal at whose other end the test sits.
@Suite(.timeLimit(.minutes(Patience.minutes(2)))) struct OwnGadgetTests {
  private let root = ProjectFolder.path

  private func text(of file: String) throws -> String {
    String(decoding: try SmallFile.read("\(root)/\(file)", limit: 1 << 20), as: UTF8.self)
  }

  /// The program, at the terminal of a gadget that answers each command as `answer` says. That happens on the I/O thread,
  /// so that no busy machine makes it too late.
  private func run(_ answer: @escaping @Sendable (UInt8) -> Answer) async throws -> (printed: String, path: String) {
    let terminal = try await PseudoTerminal.open()
    let transport = terminal.transport
    let arrived = Watched<[UInt8]>([])
    transport.input.onReadable { [weak transport] in
      var bytes: [UInt8] = []
      while let transport, case .bytes = transport.input.take(into: &bytes) {
        for case let command? in bytes.map({ Self.command(behind: $0, in: arrived) }) {
          switch answer(command) {
          case .bytes(let bytes): _ = transport.output.offer(bytes)
          case .unplug: transport.beginClose()
          }
        }
      }
    }
    let tests = linkTarget("/proc/self/exe") ?? ""
    let folder = "/" + tests.split(separator: "/").dropLast().joined(separator: "/")
    let transcript = try await Program(
      [folder + "/OwnGadget", terminal.path], environment: [:], directory: "/"
    ).end()
    #expect(transcript.status == 0 && transcript.errors.isEmpty, "\(transcript.errorText)")
    await transport.close()
    return (transcript.outputText, terminal.path)
  }

  private enum Answer {
    case bytes([UInt8])
    case unplug
  }

  /// The command of the request that `byte` completes. A request is four bytes to the letter, its CRC-8 by hand.
  private static func command(behind byte: UInt8, in arrived: Watched<[UInt8]>) -> UInt8? {
    arrived.update { arrived in
      arrived.append(byte)
      guard arrived.count == 4 else { return nil }
      defer { arrived = [] }
      return [[0xA5, 0x00, 0x01, 0x07], [0xA5, 0x00, 0x02, 0x0E]].contains(arrived) ? arrived[2] : 0xFF
    }
  }

  /// A frame of the gadget's, its CRC-8 (polynomial 07) reckoned bit by bit.
  private static func frame(_ command: UInt8, _ payload: [UInt8] = []) -> [UInt8] {
    let covered = [UInt8(payload.count), command] + payload
    let check = covered.reduce(UInt8(0)) { check, byte in
      (0..<8).reduce(check ^ byte) { register, _ in register & 0x80 != 0 ? register << 1 ^ 0x07 : register << 1 }
    }
    return [0xA5] + covered + [check]
  }

  @Test func batteryAndStatusArePrinted() async throws {
    // Noise, another frame and a damaged one before the reply.
    let noise = [0x00, 0xA5] + Self.frame(0x90, [1, 2]) + Self.frame(0x81, [99, 0, 0]).dropLast() + [0]
    let printed = try await run { command in
      switch command {
      case 0x01: .bytes(noise + Self.frame(0x81, [57, 0x42, 0x0F]))
      case 0x02: .bytes(Self.frame(0x82, [1]))
      default: .unplug
      }
    }.printed
    #expect(printed == "battery: normal, status: busy\n")
  }

  @Test func aRefusedRequestIsPrintedWithItsReason() async throws {
    let (printed, path) = try await run { _ in .bytes(Self.frame(0x7F, [3])) }
    #expect(printed == "\(path) refuses BATTERY: it can't do that now\n")
  }

  @Test func anUnpluggedGadgetIsPrintedAsDisconnected() async throws {
    let (printed, path) = try await run { _ in .unplug }
    #expect(printed == "\(path) was disconnected\n")
  }

  // MARK: - The page

  @Test func thePageShowsTheExampleToTheLetter() throws {
    let page = try text(of: "Documentation/own-gadget.md")
    let lines = page.split(separator: "\n", omittingEmptySubsequences: false)
    let begin = try #require(lines.firstIndex(of: "```swift"))
    let shown = lines[(begin + 1)...].prefix { $0 != "```" }
    let source = try text(of: "Examples/OwnGadget/OwnGadget.swift")
    let written = source.split(separator: "\n", omittingEmptySubsequences: false).dropFirst(2).dropLast()
    #expect(Array(shown) == Array(written))
  }

  /// What the page shows of numbers is what is compiled here.
  @Test func thePagesExampleOfNumbersIsCompiled() throws {
    let session = AccessorySession(MemoryTransport())
    let format = HeaderFormat(sync: [0xA5], headerByteCount: 4, length: .init(offset: 1, byteCount: 1))
    var options = FrameExchange<HeaderCodec>.Options()
    options.pacing = .window(4)
    let rules = try FrameExchange(
      format, maximumPayload: 64, label: session.label, options: options,
      numbers: 1...255, number: { frame, number in frame.header[3] = UInt8(number) }
    ) { frame, request in frame.header[3] == request.header[3] ? .reply : .unrelated }
    #expect(rules.codec.maximumPayload == 64)
    let shown = try text(of: "Documentation/own-gadget.md").split(separator: "\n").drop { !$0.hasPrefix("## Contact") }
      .dropFirst().prefix { !$0.hasPrefix("## ") }.filter { $0.hasPrefix("    ") }
    #expect(shown.count == 6)
    let source = try text(of: "Tests/Units/AccessoryDriversTests/OwnGadgetTests.swift")
    #expect(source.contains(shown.joined(separator: "\n")))
  }

  @Test func theExampleIsShort() throws {
    let lines = try text(of: "Examples/OwnGadget/OwnGadget.swift").split(separator: "\n").map { line in
      line.drop { $0 == " " }
    }
    let count = lines.count { !$0.isEmpty && !$0.hasPrefix("//") }
    #expect(count <= 40 && lines.allSatisfy { $0.count <= 120 })
  }
}
