// SPDX-License-Identifier: Apache-2.0

import AccessoryDrivers
import AccessoryLink
import AccessoryProtocols
import CFloor
import FamilyAF1

/// What a protocol costs that a file describes, beside the same one in Swift: decoding AF1 from memory, and requests with
/// 16 bytes to a device at a pseudo-terminal.
enum DescribedBenchmark {
  static func run(_ options: Options) async throws -> [Row] {
    let description = try DescribedAF1.description()
    return try await decode(options, description) + requests(options, description)
  }

  // MARK: - Decoding

  private static func decode(_ options: Options, _ description: ProtocolDescription) async throws -> [Row] {
    let codec = try DescribedCodec(description)
    var rows: [Row] = []
    for size in [64, 1_000] {
      let bytes = try frames(payload: size)
      let described = Contender("described") { [try rate(of: bytes, by: codec, expecting: frameCount)] }
      let own = Contender("AF1Codec") {
        [try rate(of: bytes, by: AF1Codec(maximumPayload: 1_000), expecting: frameCount)]
      }
      let figures = try await Rounds.run(options.isQuick ? 3 : 9, [described, own])
      rows.append(
        Row(
          "described", "decoding frames of \(size) B", unit: "MB/s", ours: figures[0].map { $0[0] }, peer: own.name,
          theirs: figures[1].map { $0[0] }, requirement: .ratioAtLeast(0.25)))
    }
    return rows
  }

  private static let frameCount = 256

  private static func frames(payload count: Int) throws -> [UInt8] {
    var bytes: [UInt8] = []
    let codec = AF1Codec(maximumPayload: count)
    for number in 0..<UInt16(frameCount) {
      let payload = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ Int(number)) }
      try codec.encode(.request(.echo, number: number), payload: payload, into: &bytes)
    }
    return bytes
  }

  /// MB/s of the stream, in pieces of 4 KiB as terminals give them.
  private static func rate<Codec: FrameCodec>(
    of bytes: [UInt8], by codec: Codec, expecting count: Int
  ) throws -> Double {
    var codec = codec
    var batch = FrameBatch<Codec.Header>()
    let turns = max(1, 8_000_000 / bytes.count)
    var found = 0
    let start = cfloor_now()
    for _ in 0..<turns {
      for offset in stride(from: 0, to: bytes.count, by: 4_096) {
        codec.decode(bytes.span.bytes.extracting(offset..<min(offset + 4_096, bytes.count)), into: &batch)
        found += batch.count
        batch.removeAll()
      }
    }
    let time = cfloor_now() - start
    guard found == count * turns else { throw Failure("\(found) frames were found of \(count * turns)") }
    return Double(bytes.count * turns) * 1_000 / Double(time)
  }

  // MARK: - Requests

  private static func requests(_ options: Options, _ description: ProtocolDescription) async throws -> [Row] {
    let count = options.isQuick ? 2_000 : 5_000
    let device = try Device(.echo)
    let payload = [UInt8](0..<16)
    let described = Contender("DescribedAccessory.perform") {
      try await device.withTransport { transport in
        let accessory = try await DescribedAccessory.open(AccessorySession(transport), description)
        let call = try CommandCall.read(["echo"], of: Driver(description).commands)
        let summary = try await times(of: count) {
          let replies = try await accessory.perform(call, isAnswered: true)
          guard replies.first?.values == [.bytes(payload)] else { throw Failure("the device echoed something else") }
        }
        await accessory.close()
        return summary
      }
    }
    let own = Contender("AF1Accessory.echo") {
      try await device.withTransport { transport in
        let accessory = try await AF1Accessory.open(AccessorySession(transport))
        let summary = try await times(of: count) { _ = try await accessory.echo(payload) }
        await accessory.close()
        return summary
      }
    }
    let figures = try await Rounds.run(options.isQuick ? 3 : 9, [described, own])
    return ["median", "p99"].enumerated().map { part, name in
      Row(
        "described", "\(described.name): \(name)", unit: "µs", ours: figures[0].map { $0[part] }, peer: own.name,
        theirs: figures[1].map { $0[part] }, requirement: part == 0 ? .ratioAtMost(1.2) : nil)
    }
  }

  /// The median and the 99th percentile of so many exchanges, in microseconds.
  private static func times(of count: Int, _ exchange: () async throws -> Void) async throws -> [Double] {
    var times: [Double] = []
    times.reserveCapacity(count)
    for _ in 0..<count {
      let start = cfloor_now()
      try await exchange()
      times.append(Double(cfloor_now() - start) / 1_000)
    }
    return [times.median, times.quantile(0.99)]
  }
}
