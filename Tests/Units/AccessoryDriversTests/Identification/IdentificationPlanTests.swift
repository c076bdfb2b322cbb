// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import AccessoryFamilies
import AccessoryProtocols
import TestSupport
import Testing

@testable import AccessoryDescriptions
@testable import AccessoryDrivers

/// What is tried to find out what is at a port.
struct IdentificationPlanTests {
  @Test func everyShippedKindIsTriedOrThereIsAReason() {
    let plan = IdentificationPlan.test()
    let untried = plan.untried.map(\.name)
    let drivers = DriverLibrary.builtIn.drivers.filter { $0.channel == .bytes }
    for kind in drivers.map(\.name) + DescriptionLibrary.builtIn.names {
      #expect(plan.kinds.contains(kind) != untried.contains(kind), "\(kind)")
    }
    let onAir = DescriptionLibrary.builtIn.names.filter {
      let described = DescriptionLibrary.builtIn.described($0)
      return described?.description.bluetooth != nil && described?.line == nil
    }
    #expect(untried == ["hm1x"] + onAir, "no cable is sent requests of a kind that is only on the air")
  }

  /// First it is listened; then what has a checksum is asked, what may end a connection last.
  @Test func listeningComesFirstAndBlunoLast() throws {
    let plan = IdentificationPlan.test()
    let firstAsking = try #require(plan.steps.firstIndex { !$0.isListening })
    #expect(plan.steps[firstAsking...].allSatisfy { !$0.isListening })
    #expect(plan.steps[..<firstAsking].map { $0.line?.baudRate } == [19_200, 57_600, 115_200, 921_600])
    #expect(plan.steps[2].kinds.starts(with: ["mavlink", "jk"]))
    let asked = plan.steps[firstAsking...].flatMap(\.kinds)
    let wanted = ["jbd", "daly", "jk", "pylontech", "pi30", "sdm120", "epever", "framed", "ev3", "hm10", "bluno"]
    #expect(wanted.compactMap { asked.firstIndex(of: $0) } == wanted.compactMap { asked.firstIndex(of: $0) }.sorted())
    #expect(wanted.allSatisfy(asked.contains) && plan.steps.last?.kinds == ["bluno"])
  }

  /// A driver's place follows from what its requests do to others, not from its place in the library.
  @Test func whatDisturbsMostComesLastWhereverItsDriverStands() throws {
    let drivers = DriverLibrary(DriverLibrary.builtIn.drivers.reversed(), protocols: .builtIn)
    let asked = IdentificationPlan(drivers, port: .line).steps.filter { !$0.isListening }.map(\.kinds)
    #expect(asked.suffix(4) == [["hm10"], ["hm10"], ["bluno"], ["bluno"]])
    #expect(Set(asked.suffix(6).prefix(2)) == [["framed"], ["ev3"]])
  }

  /// Frames as data sheets print them.
  @Test func requestsAreTheFramesOfDataSheets() throws {
    let plan = IdentificationPlan.test()
    func sent(_ kind: String) -> [String] {
      plan.steps.first { $0.kinds == [kind] && !$0.isListening }?.sends.map { Hexadecimal.string($0.bytes) } ?? []
    }
    #expect(sent("jbd") == ["dda50300fffd77"] && sent("daly") == ["a540900800000000000000007d"])
    #expect(sent("jk") == ["4e5700130000000006030000000000006800000129"])
    #expect(sent("pi30") == ["0d", "515049beac0d"] && sent("sdm120") == ["01040000000271cb"])
    #expect(sent("epever") == ["0104331a00039e88"] && sent("vesc") == ["020100000003"])
    #expect(sent("hm10") == ["4154"] && sent("bluno") == ["2b2b2b"])
    #expect(plan.steps.last?.farewell == Array("+++".utf8))
  }

  /// Nothing that is sent is a request that the description marks as a write, and of Modbus only functions that read.
  @Test func nothingIsAWrite() throws {
    let plan = IdentificationPlan.test()
    for name in DescriptionLibrary.builtIn.names {
      let description = try #require(DescriptionLibrary.builtIn.described(name)).description
      let writer = RequestEncoder(try DescribedCodec(description))
      let writes = try description.requests.indices.filter { description.requests[$0].isWrite }.map {
        try writer.bytes($0).bytes
      }
      for step in plan.steps where step.kinds.contains(name) {
        for sending in step.sends {
          #expect(!writes.contains(sending.bytes), "\(name)")
          if description.modbus != nil { #expect((1...4).contains(sending.bytes[1]), "\(name)") }
        }
      }
    }
  }

  /// The page shows all of the plan, and nothing else. `bridge-cli profile identify --dry-run` prints the same.
  @Test func thePageHasTheWholeOrder() throws {
    let page = try Page("Documentation/identify.md")
    let isHead = { (line: Substring) in line.hasPrefix("STEP  RATE") }
    let block = try #require(page.blocks.last { $0.lines.contains(where: isHead) })
    let table = block.lines.drop { !isHead($0) }.dropFirst().prefix { $0 != "…" }
    let rows = table.map { $0.split(separator: "  ", maxSplits: 4).map { $0.drop { $0 == " " } } }
    let plan = IdentificationPlan.test()
    let hint = "put what bridge-cli profile identify --dry-run prints into the page"
    #expect(rows.count == plan.steps.count, "\(hint)")
    for (number, (row, step)) in zip(rows, plan.steps).enumerated() {
      var sent = step.sends.map { Hexadecimal.string($0.bytes) }.joined(separator: ", then ")
      if !step.farewell.isEmpty { sent += ", and \(Hexadecimal.string(step.farewell)) if it answers" }
      if step.isListening { sent = "nothing: it listens for 1.5 s" }
      let cells = [
        "\(number + 1)", "\(step.line?.baudRate ?? 0)", step.kinds.joined(separator: ", "),
        step.isListening ? "-" : "\(step.times)", sent,
      ]
      #expect(row.map(String.init) == cells, "\(hint)")
    }
  }

  @Test func onlyTheNamedKindsAreTried() {
    let plan = IdentificationPlan.test(["daly", "jbd"])
    #expect(plan.steps.map(\.kinds) == [["jbd"], ["daly"]] && plan.untried.isEmpty && !plan.isSilent)
    #expect(IdentificationPlan.test(["vedirect"]).isSilent)
    #expect(IdentificationPlan.test(["hm1x"]).steps.isEmpty)
  }

  /// Where no rate can be set each kind has its turn once; at Modbus TCP's port there is nothing else.
  @Test func withoutARateEachKindIsTriedOnce() throws {
    let plan = IdentificationPlan.test(port: try #require(.init(.unix("/tmp/x"))))
    #expect(plan.steps.allSatisfy { $0.line == nil } && plan.steps.count { $0.isListening } == 1)
    #expect(Set(plan.steps[0].kinds) == ["vedirect", "mavlink", "jk"])
    let asked = plan.steps.dropFirst().flatMap(\.kinds)
    #expect(asked.count { $0 == "sdm120" } == 1 && asked.count { $0 == "elm327" } == 1)
    #expect(plan.steps.first { $0.kinds == ["sdm120"] }?.sends[0].bytes.count == 8)
    let tcp = try #require(DeviceAddress("tcp:box:502"))
    let modbus = IdentificationPlan.test(port: try #require(.init(tcp)))
    #expect(modbus.kinds == ["sdm120", "renogy", "srne", "epever"])
    #expect(modbus.steps[0].sends.map(\.bytes) == [[0, 1, 0, 0, 0, 6, 1, 4, 0, 0, 0, 2]])
    let gateway = try #require(DeviceAddress("tcp:box:5555"))
    let network = IdentificationPlan.test(["ev3"], port: try #require(.init(gateway)))
    #expect(String(decoding: network.steps[0].sends[0].bytes, as: UTF8.self).hasPrefix("GET /target"))
    #expect(IdentificationPlan.PortKind(.usb("/dev/bus/usb/001/002")) == nil)
  }

  // MARK: - Protocols of one's own

  private func library(_ files: [String: String]) throws -> DriverLibrary {
    let folder = try TemporaryDirectory()
    for (name, text) in files { try folder.write(Array(text.utf8), to: name + ".yaml") }
    var library = DriverLibrary.builtIn
    library.protocols = .load([folder.path], takenNames: DriverLibrary.builtIn.names, isStrict: false)
    #expect(library.protocols.problems.isEmpty, "\(library.protocols.problems)")
    return library
  }

  private static func lamp(_ name: String, _ plan: String, baud: Int = 4_800) -> String {
    """
    protocol: \(name)
    version: 1
    line: {baud: \(baud)}
    framings:
      line: {layout: [data, end: "\\n"]}
    messages:
      status: {pattern: "S {battery.percent}", types: {battery.percent: {type: number, unit: "%"}}}
    requests:
      status: {send: "S?\\n", reply: status}
    plan: \(plan)
    """
  }

  @Test func onesOwnComeLastAndOnlyWithIdentify() throws {
    let library = try library([
      "lamp": Self.lamp("lamp", "{identify: {request: status}}"),
      "dumb": Self.lamp("dumb", "{poll: [{requests: status}]}"),
      "slow": Self.lamp("slow", "{identify: {request: status}, tries: 1}", baud: 1_200),
    ])
    let plan = IdentificationPlan(library, port: .line)
    #expect(plan.steps.suffix(2).map(\.kinds) == [["slow"], ["lamp"]])
    #expect(plan.steps.suffix(2).map { $0.line?.baudRate } == [1_200, 4_800])
    #expect(plan.steps.suffix(2).map(\.times) == [1, 2])
    #expect(plan.untried.map(\.name).contains("dumb") && !plan.kinds.contains("dumb"))
  }

  /// Two that send the same at one rate share a step.
  @Test func twoKindsWithOneRequestShareAStep() throws {
    let plan = IdentificationPlan(
      try library([
        "a-lamp": Self.lamp("a-lamp", "{identify: {request: status}}"),
        "lamp": Self.lamp("lamp", "{identify: {request: status}}"),
      ]), port: .line)
    #expect(plan.steps.last?.kinds == ["a-lamp", "lamp"] && plan.steps.last?.sends.count == 1)
  }

  // MARK: - On the air

  /// A device on the air is asked only for kinds of the air; the steps of one pair of characteristics follow one another.
  @Test func aDeviceOnTheAirIsAskedForKindsOfTheAir() throws {
    let address = try #require(BluetoothAddress("C8:47:8C:11:22:33"))
    #expect(IdentificationPlan.PortKind(.ble(address)) == .air)
    #expect(IdentificationPlan.PortKind(.rfcomm(address, channel: nil)) == .connection(isNetwork: false))
    let plan = IdentificationPlan.test(port: .air)
    #expect(plan.isOnAir && !plan.isSilent && plan.steps.allSatisfy { $0.line == nil && $0.gatt != nil })
    for kind in plan.kinds {
      let described = try #require(DriverLibrary.builtIn.protocols.described(kind))
      let air = try #require(described.description.bluetooth, "\(kind) isn't on the air")
      #expect(plan.steps.filter { $0.kinds.contains(kind) }.allSatisfy { $0.gatt == air.gatt }, "\(kind)")
    }
    #expect(["jbd", "jk02", "daly-d2", "tdt", "vatrer", "cbt"].allSatisfy(plan.kinds.contains))
    #expect(!["hm10", "vedirect", "pi30", "ev3", "framed"].contains(where: plan.kinds.contains))
    #expect(plan.untried.contains { $0.name == "victron-ble" && $0.text.contains("advertises") })
    // None of the requests is a write.
    #expect(plan.steps.count == plan.parts.map(\.steps.count).reduce(0, +))
    #expect(Set(plan.parts.map(\.gatt)).count == plan.parts.count)
    // What a device is told before is a part of the plan.
    #expect(plan.steps.contains { $0.kinds.contains("tdt") && $0.gatt?.greeting?.bytes == Array("HiLink".utf8) })
  }
}
