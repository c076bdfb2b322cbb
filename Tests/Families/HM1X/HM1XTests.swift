// SPDX-License-Identifier: Apache-2.0

import FamilyHM1X
import TestSupport
import Testing

@testable import AccessoryProtocols

@Suite struct HM1XTests {
  struct Vector: Sendable {
    var steering: Int
    var acceleration: Int
    var lights = false
    var wire: String
  }

  static let vectors = [
    Vector(steering: 0, acceleration: 0, wire: "00 00 00 3A"),
    Vector(steering: -255, acceleration: 255, wire: "0D 7F 7F 3A"),
    Vector(steering: 58, acceleration: 0, wire: "00 3A 00 3A"),
    Vector(steering: 186, acceleration: 0, wire: "04 3A 00 3A"),
    Vector(steering: -128, acceleration: 0, wire: "05 00 00 3A"),
    Vector(steering: 0, acceleration: -1, lights: true, wire: "32 00 01 3A"),
    Vector(steering: 58, acceleration: -186, lights: true, wire: "3A 3A 3A 3A"),
  ]

  @Test(arguments: vectors) func aFrameOfHM1XIsEncodedAndReadBack(vector: Vector) throws {
    let frame = try HM1XFrame(
      steering: vector.steering, acceleration: vector.acceleration, headlights: vector.lights,
      brakeLights: vector.lights)
    #expect(frame.encoded() == hex(vector.wire))
    #expect(try HM1XFrame(decoding: hex(vector.wire)) == frame)
  }

  private static func everyFrame(_ body: (HM1XFrame) throws -> Void) throws {
    let values = [-255, -187, -186, -185, -129, -128, -127, -59, -58, -57, -1, 0, 1, 57, 58, 127, 128, 186, 187, 255]
    for steering in values {
      for acceleration in values {
        for lights in 0..<4 {
          try body(
            HM1XFrame(
              steering: steering, acceleration: acceleration, headlights: lights & 1 != 0, brakeLights: lights & 2 != 0)
          )
        }
      }
    }
  }

  @Test func everyFrameComesBack() throws {
    try Self.everyFrame { frame in
      let read = try HM1XFrame(decoding: frame.encoded())
      #expect(read == frame)
      #expect(frame.encoded().dropLast().allSatisfy { $0 < 0x80 })
    }
    for value in -255...255 {
      let frame = try HM1XFrame(steering: value, acceleration: -value)
      #expect(try HM1XFrame(decoding: frame.encoded()) == frame)
    }
  }

  @Test func naiveReceiversSeeOneColon() throws {
    func naive(_ steering: Int, _ acceleration: Int, lights: Bool = false) throws -> [UInt8] {
      try HM1XFrame(steering: steering, acceleration: acceleration, headlights: lights, brakeLights: lights)
        .encoded(for: .naive)
    }
    #expect(try naive(58, -58) == hex("02 39 39 3A"))
    #expect(try naive(186, -186) == hex("0E 39 39 3A"))
    #expect(try naive(58, -186, lights: true) == hex("2A 39 39 3A"))
    #expect(try naive(0, -200, lights: true) == hex("3B 00 48 3A"))
    try Self.everyFrame { frame in
      let wire = frame.encoded(for: .naive)
      #expect(wire.firstIndex(of: 0x3A) == 3)
      let received = try HM1XFrame(decoding: wire)
      #expect(abs(received.steering - frame.steering) <= 1 && received.brakeLights == frame.brakeLights)
      #expect(abs(received.acceleration - frame.acceleration) <= 1)
      #expect(received.headlights == frame.headlights || frame.encoded()[0] == 0x3A)
    }
  }

  @Test func whatIsNoFrameOfACarIsRefused() throws {
    for wire in ["", "00 00 3A", "00 00 00 3B", "40 00 00 3A", "80 00 00 3A", "00 80 00 3A", "00 00 80 3A"] {
      #expect(throws: HM1XFrameError.noFrame) { try HM1XFrame(decoding: hex(wire)) }
    }
    #expect(throws: HM1XFrameError.noFrame) { try HM1XFrame(decoding: hex("00 00 00 3A 00")) }
    #expect(try HM1XFrame(decoding: hex("03 00 00 3A")) == HM1XFrame(steering: 0, acceleration: 0))
    #expect(throws: HM1XFrameError.outOfRange(argument: "steering", value: 256)) {
      try HM1XFrame(steering: 256, acceleration: 0)
    }
    #expect(throws: HM1XFrameError.outOfRange(argument: "acceleration", value: .min)) {
      try HM1XFrame(steering: 0, acceleration: .min)
    }
  }

  @Test(arguments: [UInt64](1...20)) func framesOfHM1XAreFoundBetweenGarbage(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var stream: [UInt8] = []
    var sent: [HM1XFrame] = []
    for _ in 0..<20 {
      if random.next() % 3 == 0 { stream += random.bytes(5).map { $0 | 0x80 } }
      // Two alike, as the second is needed to believe the first.
      let frame = try HM1XFrame(
        steering: Int.random(in: -255...255, using: &random), acceleration: Int.random(in: 0...57, using: &random))
      stream += frame.encoded(for: .naive) + frame.encoded(for: .naive)
      sent += [
        try HM1XFrame(decoding: frame.encoded(for: .naive)), try HM1XFrame(decoding: frame.encoded(for: .naive)),
      ]
    }
    var codec = HM1XFrame.codec
    let received = try codec.received(stream).payloads.map { try HM1XFrame(decoding: $0) }
    #expect(received == sent)
    expectSameForAnyCuts(HM1XFrame.codec, stream)
  }
}
