// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols
import CFloor
import FamilyAF1

/// Decoding AF1 from memory, in MB/s of the stream, in pieces of 4 KiB as terminals give them.
enum DecodeBenchmark {
  private struct Input {
    let name: String
    let unit: [UInt8]
    let sizes: [Int]
    let requirement: Requirement?
  }

  static func run(_ options: Options) async throws -> [Row] {
    let kib = 1_024
    let mib = 1_024 * kib
    let inputs = [
      Input(name: "frames of 64 B", unit: frames(payload: 64), sizes: [kib, mib, 64 * mib], requirement: nil),
      Input(
        name: "frames of 4 KiB", unit: frames(payload: 4 * kib), sizes: [64 * kib, mib, 64 * mib], requirement: nil),
      Input(name: "noise", unit: noise(mib), sizes: [kib, mib, 64 * mib], requirement: nil),
      Input(name: "noise of sync bytes", unit: [0x0F, 0xF0], sizes: [mib], requirement: nil),
      Input(name: "nested headers, limit 4 KiB", unit: header(length: 4_000), sizes: [mib], requirement: nil),
    ]
    var rows: [Row] = []
    for input in inputs {
      for size in input.sizes where !options.isQuick || size <= mib {
        let bytes = repeated(input.unit, to: size)
        let rates = (0..<(options.isQuick ? 3 : 5)).map { _ in rate(of: bytes) }
        rows.append(
          Row("decode", "\(input.name), \(sizeName(size))", unit: "MB/s", ours: rates, requirement: input.requirement))
      }
    }
    return rows
  }

  private static func rate(of bytes: [UInt8]) -> Double {
    var codec = AF1Codec(maximumPayload: 4_096)
    var batch = FrameBatch<AF1Header>()
    // Small inputs again and again, until there is something to measure.
    let turns = max(1, 8_000_000 / bytes.count)
    let start = cfloor_now()
    for _ in 0..<turns {
      for offset in stride(from: 0, to: bytes.count, by: 4_096) {
        let end = min(offset + 4_096, bytes.count)
        codec.decode(bytes.span.bytes.extracting(offset..<end), into: &batch)
        batch.removeAll()
      }
    }
    return Double(bytes.count * turns) * 1_000 / Double(cfloor_now() - start)
  }

  // MARK: - Streams

  private static func frames(payload count: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    let codec = AF1Codec(maximumPayload: count)
    for number in 0..<UInt16(16) {
      let payload = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ Int(number)) }
      try? codec.encode(.request(.echo, number: number), payload: payload, into: &bytes)
    }
    return bytes
  }

  /// A good header that announces a payload, which it never is: the worst that can be sent.
  private static func header(length: UInt16) -> [UInt8] {
    let payload = [UInt8](repeating: 0, count: Int(length))
    var bytes: [UInt8] = []
    try? AF1Codec(maximumPayload: payload.count).encode(.request(.echo, number: 1), payload: payload, into: &bytes)
    return Array(bytes[..<10])
  }

  private static func noise(_ count: Int) -> [UInt8] {
    var state: UInt64 = 0x9E37_79B9_7F4A_7C15
    return (0..<count).map { _ in
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return UInt8(truncatingIfNeeded: state >> 56)
    }
  }

  private static func repeated(_ unit: [UInt8], to count: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count + unit.count)
    while bytes.count < count { bytes += unit }
    // A whole number of units where there is room for more than one, so that every turn begins with a frame.
    let whole = bytes.count > count && bytes.count > unit.count ? bytes.count - unit.count : min(bytes.count, count)
    bytes.removeLast(bytes.count - whole)
    return bytes
  }

  private static func sizeName(_ count: Int) -> String {
    count >= 1_048_576 ? "\(count / 1_048_576) MiB" : "\(count / 1_024) KiB"
  }
}
