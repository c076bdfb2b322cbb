// SPDX-License-Identifier: Apache-2.0

import AccessoryBridge
import AccessoryCore
import AccessoryFamilies
import AccessorySimulator
import TestSupport
import Testing

/// Several accessories on one line, opened by one program.
@Suite("Units of a line", .serialized, .timeLimit(.minutes(Patience.minutes(3)))) struct UnitTests {
  private static func profile(_ units: UnitChoice?) -> Profile {
    var profile = Profile(name: "bank", rules: [DeviceRule(serialNumber: "BANK")], driver: "daly")
    profile.units = units
    profile.allowsWrites = true
    return profile
  }

  private static func line(_ place: Place) async throws -> SerialSimulator<DescribedUnits> {
    let described = try #require(DescriptionLibrary.builtIn.described("daly"))
    var devices = try DescribedUnits(
      DescribedDevice(described.description, serialNumber: "BANK"), units: [1, 2, 5])
    for unit in [1, 2, 5] {
      try devices.change(unit) { device throws(AccessoryError) in
        try device.set("battery.percent", to: .whole(10 * unit))
      }
    }
    var configuration = SerialSimulator<DescribedUnits>.Configuration(devices, seed: 1)
    configuration.announcementDirectory = place.simulators
    let line = SerialSimulator(configuration)
    try await line.plugIn()
    return line
  }

  private static func accessories(_ place: Place, _ units: UnitChoice?) -> Accessories {
    Accessories(
      sources: [SimulatorSource(directory: place.simulators)], profiles: ProfileStore([profile(units)]), services: [])
  }

  /// The line is one thing to share, and whoever shares it by frames asks each unit.
  @Test func aLineIsSharedWithAllItsUnits() async throws {
    let place = try Place()
    let line = try await Self.line(place)
    let accessories = Self.accessories(place, .list([1, 2, 5]))
    let shared = try await accessories.openShared("BANK")
    #expect(shared.routing != nil && !shared.isReadOnly)
    let isTaken = await kind { () throws(AccessoryError) in _ = try await accessories.open("BANK@1") }
    #expect(isTaken == .busy)
    await shared.transport.close()
    let first = try await accessories.open("BANK@1")
    #expect(try await first.battery().percent == 10)
    #expect(try await first.commands() == DriverLibrary.builtIn.driver(named: "daly")?.commands)
    await first.close()
    await line.stop()
  }

  @Test func unitsOfALineAreOpenTogether() async throws {
    let place = try Place()
    let line = try await Self.line(place)
    let accessories = Self.accessories(place, .list([1, 2, 5]))
    #expect(try await accessories.list().map(\.device.id) == ["BANK@1", "BANK@2", "BANK@5"])
    let known = try await accessories.list()
    let first = try await accessories.open(known[0])
    let second = try await accessories.open("BANK@2")
    #expect(try await first.battery().percent == 10)
    #expect(try await second.battery().percent == 20)
    // Bytes may be a command, and are for who asks for that; but the line is open.
    #expect(
      await kind { () throws(AccessoryError) in _ = try await accessories.openSession("BANK@5") } == .permissionDenied)
    let isTaken = await kind { () throws(AccessoryError) in
      _ = try await accessories.openSession("BANK@5", writes: true)
    }
    #expect(isTaken == .busy)
    #expect(await kind { () throws(AccessoryError) in _ = try await accessories.open("BANK@7") } == .notFound)
    #expect(await kind { () throws(AccessoryError) in _ = try await accessories.open("BANK") } == .misconfigured)

    let told = Task {
      var count = 0
      for try await _ in first.news() { count += 1 }
      return count
    }
    await first.close()
    // What was closed here ends normally, and takes nothing more; the other goes on.
    #expect(try await told.value == 0)
    #expect(await kind { () throws(AccessoryError) in _ = try await first.battery() } == .cancelled)
    #expect(try await second.battery().percent == 20)
    await second.close()

    // The last has closed the line.
    let session = try await accessories.openSession("BANK@5", writes: true)
    await session.close()
    var dropped: (any Accessory)? = try await accessories.open("BANK@5")
    #expect(try await dropped?.battery().percent == 50)
    dropped = nil
    try await eventually("the line to be closed when its accessory is let go") {
      guard let session = try? await accessories.openSession("BANK@5", writes: true) else { return false }
      await session.close()
      return true
    }
    await line.stop()
  }

  @Test func unitsEndTogetherWithTheirLine() async throws {
    let place = try Place()
    let line = try await Self.line(place)
    let accessories = Self.accessories(place, .list([1, 2, 5]))
    let first = try await accessories.open("BANK@1")
    let second = try await accessories.open("BANK@2")
    let ends = [first, second].map { one in
      Task { () -> AccessoryError.Kind? in
        do throws(AccessoryError) {
          for try await _ in one.news() {}
          return nil
        } catch {
          return error.kind
        }
      }
    }
    await line.unplug()
    for end in ends { #expect(await end.value == .disconnected) }
    try await line.plugIn()
    // Nobody has closed these; the line is opened anew all the same.
    try await eventually("the line to be there again") {
      guard let again = try? await accessories.open("BANK@2") else { return false }
      let percent = try await again.battery().percent
      await again.close()
      return percent == 20
    }
    await first.close()
    await second.close()
    await line.stop()
  }

  /// Where nobody says which there are, any may be named.
  @Test func anyUnitMayBeNamedWhereNoneIsListed() async throws {
    let place = try Place()
    let line = try await Self.line(place)
    let accessories = Self.accessories(place, nil)
    #expect(try await accessories.list().map(\.device.id) == ["BANK"])
    let second = try await accessories.open("BANK@2")
    #expect(try await second.battery().percent == 20)
    await second.close()
    let standard = try await accessories.open("BANK")
    #expect(try await standard.battery().percent == 10)
    await standard.close()
    #expect(await kind { () throws(AccessoryError) in _ = try await accessories.open("BANK@17") } == .misconfigured)
    await line.stop()
  }
}
