// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryLink
import AccessoryProtocols
import FamilyHM1X
import FamilyHM1XSimulator
import TestSupport
import Testing

@testable import AccessoryDrivers
@testable import AccessorySimulator

/// A pretended car from end to end: the real driver and the real link at the other end of a terminal.
@Suite(.timeLimit(.minutes(Patience.minutes(2)))) struct HM1XSimulatorTests {
  private struct Bench {
    let simulator: HM1XSimulator
    let car: HM1XCar

    static func open(_ receiver: HM1XFrame.Receiver = .window) async throws -> Bench {
      var configuration = HM1XDevice.Configuration()
      configuration.receiver = receiver
      var simulated = HM1XSimulator.Configuration(HM1XDevice(configuration), seed: 1)
      simulated.isAnnounced = false
      let simulator = HM1XSimulator(simulated)
      let session = try await AccessorySession.open(TerminalConfiguration(path: try await simulator.plugIn()))
      return Bench(simulator: simulator, car: try await HM1XCar.open(session))
    }

    func perform(_ line: String) async throws {
      let calls = try CommandCall.read(line.split(separator: " ").map(String.init), of: HM1XCar.commands)
      _ = try await car.perform(calls, isAnswered: true)
    }

    /// The next frames that say something else than those before.
    func frames(_ count: Int) async -> [HM1XFrame] {
      var frames: [HM1XFrame] = []
      for await event in simulator.events {
        if case .news(let frame) = event { frames.append(frame) }
        if frames.count == count { break }
      }
      return frames
    }

    func close() async {
      await car.close()
      await simulator.stop()
    }
  }

  private func frame(_ steering: Int, _ acceleration: Int, _ head: Bool = false, _ brake: Bool = false) throws
    -> HM1XFrame
  {
    try HM1XFrame(steering: steering, acceleration: acceleration, headlights: head, brakeLights: brake)
  }

  /// All that is known of a car is what it was told, and before that nothing.
  @Test func valuesOfACarAreThoseItWasTold() async throws {
    let bench = try await Bench.open()
    let unknown = try await bench.car.values()
    #expect(unknown.map(\.name) == ["steering", "acceleration", "headlights", "brake_lights"])
    #expect(unknown.allSatisfy { $0.content == nil && $0.isDerived })
    try await bench.perform("headlights on=yes + drive steering=58 acceleration=-186")
    #expect(try await bench.car.values().map(\.content) == [.number(58), .number(-186), .flag(true), .flag(false)])
    await bench.close()
  }

  /// A window and a mask find every frame, those full of colons, too.
  @Test func everyCommandOfACarBecomesItsFrame() async throws {
    let bench = try await Bench.open()
    try await bench.perform("headlights on=yes + drive steering=58 acceleration=-186 + brake-lights on=yes + stop")
    try await bench.perform("headlights on=no + brake-lights on=no + drive steering=-255 acceleration=255")
    #expect(
      await bench.frames(7) == [
        try frame(0, 0, true), try frame(58, -186, true), try frame(58, -186, true, true), try frame(0, 0, true, true),
        try frame(0, 0, false, true), try frame(0, 0), try frame(-255, 255),
      ])
    #expect(await bench.simulator.device.strayBytes == 0)
    await bench.close()
  }

  /// A receiver that splits at colons gets frames without any, when it is said to be one.
  @Test func naiveReceiversNeedFramesWithoutColons() async throws {
    let bench = try await Bench.open(.naive)
    try await bench.perform("drive steering=58 acceleration=186 receiver=naive + drive steering=1 receiver=naive")
    #expect(await bench.frames(2) == [try frame(57, 185), try frame(1, 0)])
    #expect(await bench.simulator.device.strayBytes == 0)
    // Otherwise not all of them arrive.
    try await bench.perform("drive steering=58 acceleration=58 + drive steering=2")
    #expect(await bench.frames(1) == [try frame(2, 0)])
    #expect(await bench.simulator.device.strayBytes > 0)
    await bench.close()
  }

  /// For a time, and then it stands still.
  @Test func aDriveWithATimeEndsWithAStop() async throws {
    let bench = try await Bench.open()
    try await bench.perform("drive steering=10 acceleration=20 time=350")
    #expect(await bench.frames(2) == [try frame(10, 20), try frame(0, 0)])
    await bench.close()
  }

  /// Frame upon frame; and who is interrupted leaves no car driving.
  @Test func anInterruptedDriveStopsTheCar() async throws {
    let bench = try await Bench.open()
    let driving = Task { try await bench.car.drive(steering: 0, acceleration: 100, for: .seconds(3_600)) }
    #expect(await bench.frames(1) == [try frame(0, 100)])
    try await eventually("four frames") { await bench.simulator.device.frameCount >= 4 }
    driving.cancel()
    _ = try? await driving.value
    #expect(await bench.frames(1) == [try frame(0, 0)])
    await bench.close()
  }

  @Test func aCarIsReadAsAnyAccessory() async throws {
    let bench = try await Bench.open()
    let accessory: any Accessory = bench.car
    #expect(try await accessory.identify().model == "HM-1X")
    #expect(try await accessory.status() == AccessoryStatus())
    let error = await #expect(throws: AccessoryError.self) { try await accessory.battery() }
    #expect(error?.kind == .unsupported)
    let wrong = await #expect(throws: AccessoryError.self) {
      try await bench.car.drive(steering: 256, acceleration: 0)
    }
    #expect(wrong?.kind == .misconfigured)
    await bench.close()
  }
}
