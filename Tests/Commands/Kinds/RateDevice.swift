// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import AccessoryFamilies
import AccessoryProtocols
import Dispatch
import Glibc
import TestSupport
import Testing

/// An accessory on a pseudo-terminal that hears and says something only while the line has its rate, as a real one: the
/// kernel carries bytes at any rate. It notes all that was written, with the rate at that time.
final class RateDevice: Sendable {
  struct Heard: Sendable, Hashable {
    var rate: UInt32
    var bytes: [UInt8]
  }

  let terminal: TestTerminal
  var path: String { terminal.path }
  private let heard = Watched<[Heard]>([])
  private let isOver = Watched(false)

  /// `answer` is what it says to bytes at its rate. `push` it sends by itself, again and again, while the line has that rate;
  /// at any other it sends garbage in its place.
  init(
    rate: UInt32, push: [UInt8]? = nil, answer: @escaping @Sendable ([UInt8]) -> [UInt8]? = { _ in nil }
  ) throws {
    let terminal = try openPseudoTerminal(raw: true)
    let (heard, isOver) = (heard, isOver)
    self.terminal = terminal
    // A thread of its own: others may keep those of the pool busy.
    DispatchQueue(label: "test.device").async {
      var turns = 0
      while !isOver.value {
        let now = (try? terminal.speeds().output) ?? 0
        let bytes = terminal.readSome()
        if !bytes.isEmpty {
          heard.update { $0.append(Heard(rate: now, bytes: bytes)) }
          if now == rate, let reply = answer(bytes) { _ = try? terminal.writeSome(reply) }
        }
        turns += 1
        if let push, turns % 20 == 0 {
          let isHeard = (try? terminal.isExclusive()) == true
          if isHeard { _ = try? terminal.writeSome(now == rate ? push : [0xF8, 0x80, 0x00, 0xE1]) }
        }
        usleep(5_000)
      }
    }
  }

  deinit { isOver.update { $0 = true } }

  /// Returns when something was written.
  func waitForBytes() async throws { _ = try await heard.wait { !$0.isEmpty } }

  /// What was written, as far as it was read.
  var written: [Heard] { heard.value }

  /// All bytes in their order.
  var allBytes: [UInt8] { written.flatMap(\.bytes) }
}

extension RateDevice {
  /// What a kind says to its identifying request, by its description's examples.
  static func exchange(_ kind: String) throws -> (request: [UInt8], reply: [UInt8], rate: UInt32) {
    let described = try #require(DescriptionLibrary.builtIn.described(kind))
    let identify = try #require(described.description.plan.identify)
    let request = try RequestEncoder(try DescribedCodec(described.description)).bytes(identify).bytes
    let example = try #require(
      described.description.examples.first { $0.request == identify && !$0.isRefused && !$0.received.isEmpty })
    return (request, example.received, described.line?.baudRate ?? 115_200)
  }

  /// One of a kind, which answers that request.
  convenience init(answeringAs kind: String) throws {
    let (request, reply, rate) = try Self.exchange(kind)
    try self.init(rate: rate) { $0.suffix(request.count) == request[...] ? reply : nil }
  }
}
