// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryFamilies
import AccessoryLink
import AccessoryProtocols
import AccessoryTesting
import TestSupport
import Testing

@testable import AccessoryDescriptions
@testable import AccessoryDrivers

/// What readings of the built-in kinds consist of, from bytes of real accessories.
@Suite(.timeLimit(.minutes(Patience.minutes(2)))) struct BuiltInReadingTests {
  private static func description(_ name: String) throws -> ProtocolDescription {
    try #require(DescriptionLibrary.builtIn.described(name)).description
  }

  /// The values of all examples of these requests, as an accessory reports them that sends each example's bytes.
  private func latest(_ kind: String, _ requests: String...) throws -> LatestValues {
    let description = try Self.description(kind)
    var latest = LatestValues(description)
    let decoder = MessageDecoder(try DescribedCodec(description))
    for name in requests {
      let request = try #require(description.request(named: name))
      let example = try #require(description.examples.first { $0.request == request && !$0.received.isEmpty })
      var codec = try DescribedCodec(description)
      var batch = FrameBatch<DescribedHeader>()
      codec.decode(example.received.span.bytes, into: &batch)
      codec.idle(into: &batch)
      var joined: DecodedMessage?
      for index in 0..<batch.count {
        let content = batch.payloadBytes(at: index)
        let found = decoder.message(batch.header(at: index), content.span.bytes)
        let message = try #require(found)
        let decoded = decoder.decode(message, batch.header(at: index), content.span.bytes, known: example.given)
        if joined == nil { joined = decoded } else { joined?.join(decoded) }
      }
      if let count = example.given.values.first { joined?.cutLists(to: count) }
      latest.take(try #require(joined), at: MonotonicTime(nanoseconds: 0))
    }
    return latest
  }

  private func battery(_ latest: LatestValues) -> BatteryReading {
    let (reported, derived) = latest.values(now: MonotonicTime(nanoseconds: 0))
    return BatteryReading(described: reported, derived: derived)
  }

  private func values(_ latest: LatestValues) -> [String: AccessoryValue.Content] {
    let (reported, derived) = latest.values(now: MonotonicTime(nanoseconds: 0))
    let values = AccessoryValue.all(described: reported, derived: derived)
    return Dictionary(uniqueKeysWithValues: values.compactMap { value in value.content.map { (value.name, $0) } })
  }

  /// A JK tells its cells by itself, before or after it answers who it is: the values have one order.
  @Test(arguments: [false, true]) func theOrderIsTheSameWhateverComesFirst(isPushedFirst: Bool) throws {
    let description = try Self.description("jk02")
    var latest = LatestValues(description)
    func message(_ isPushed: Bool, _ names: [String]) throws -> DecodedMessage {
      let index = try #require(description.messages.firstIndex { $0.isPushed == isPushed })
      var message = DecodedMessage(message: index)
      message.values = names.map { DescribedValue($0, .whole(1)) }
      return message
    }
    let both = [try message(false, ["model"]), try message(true, ["cells", "voltage"])]
    for one in isPushedFirst ? both.reversed() : both { latest.take(one, at: MonotonicTime(nanoseconds: 0)) }
    #expect(latest.entries.map(\.value.name) == ["model", "cells", "voltage"])
  }

  /// One sensor is one temperature, although a Daly also tells the highest and the lowest.
  @Test func oneSensorIsOneTemperature() throws {
    let latest = try latest("daly", "temperature_extremes", "temperatures")
    #expect(battery(latest).temperatures == [.init(21_000)])
    #expect(values(latest)["highest_temperature"] == .number(21))
  }

  @Test func balancingCellsAreAmongTheValues() throws {
    let polled = try Self.description("daly").accessoryPolls.map(\.name)
    #expect(polled.contains("balancing"))
    #expect(values(try latest("jbd", "basic"))["balancing"] == .text("none"))
    // Cells 1, 3 and 17.
    let description = try Self.description("jbd")
    let basic = try #require(description.message(named: "basic"))
    let cells: PlainValue = .list([.text("cell-1"), .text("cell-3"), .text("cell-17")])
    let frame = try MessageEncoder(DescribedCodec(description, side: .accessory)).frame(basic, ["balancing": cells])
    #expect(Array(frame[16..<20]) == [0x00, 0x05, 0x00, 0x01], "\(Hexadecimal.string(frame))")
    var codec = try DescribedCodec(description)
    var batch = FrameBatch<DescribedHeader>()
    codec.decode(frame.span.bytes, into: &batch)
    let content = batch.payloadBytes(at: 0)
    let read = MessageDecoder(codec).decode(basic, batch.header(at: 0), content.span.bytes)
    #expect(read["balancing"]?.value == cells)
  }

  @Test func theCountersOfJBDAreAmongItsValues() throws {
    let description = try Self.description("jbd")
    let counters = try #require(description.request(named: "counters"))
    #expect(description.plannedRequests.contains(counters) && description.requests[counters].isOptional)
  }

  /// A JK reports how much its battery holds and how full it is: 15 percent of 81 Ah.
  @Test func aRemainingCapacityIsDerivedUnlessItIsReported() throws {
    let battery = battery(try latest("jk", "values"))
    #expect(battery.percent == 15 && battery.fullMilliampereHours == 81_000)
    #expect(battery.remainingMilliampereHours == 12_150 && battery.derived.contains(.remainingCapacity))
    // What a board reports itself isn't replaced.
    let reported = self.battery(try latest("jbd", "basic"))
    #expect(reported.remainingMilliampereHours == 7_200 && !reported.derived.contains(.remainingCapacity))
  }

  /// The answer to QGMN is a number of its own, and not the model's name that QMN tells.
  @Test func anInvertersModelIsItsName() throws {
    let description = try Self.description("pi30")
    var latest = LatestValues(description)
    let encoder = MessageEncoder(try DescribedCodec(description, side: .accessory))
    for (name, value) in [("model", .text("MKS2-8000")), ("general_model", .number(44 as Double))]
      as [(String, PlainValue)]
    {
      let request = try #require(description.request(named: name))
      let message = try #require(description.requests[request].reply)
      let field = try #require(description.messages[message].fields.first?.name)
      let frame = try encoder.frame(message, [field: value])
      var codec = try DescribedCodec(description)
      var batch = FrameBatch<DescribedHeader>()
      codec.decode(frame.span.bytes, into: &batch)
      let content = batch.payloadBytes(at: 0)
      latest.take(
        MessageDecoder(codec).decode(message, batch.header(at: 0), content.span.bytes),
        at: MonotonicTime(nanoseconds: 0))
    }
    let (reported, derived) = latest.values(now: MonotonicTime(nanoseconds: 0))
    #expect(AccessoryIdentity(described: reported + derived).model == "MKS2-8000")
    #expect(values(latest)["general_model"] == .number(44))
  }

  /// A described kind says what it is doing if its file has a field of the status; the others say that they don't.
  @Test(arguments: DescriptionLibrary.builtIn.names) func kindsWithoutAStatusSaySo(name: String) throws {
    let driver = try #require(DriverLibrary.builtIn.driver(named: name))
    let file = try Page("Sources/CDescriptions/Descriptions/\(name).yaml")
    #expect(driver.lacks.contains(.status) != file.lines.contains { $0.contains("name: status.") }, "\(name)")
  }
}
