// SPDX-License-Identifier: Apache-2.0

import AccessoryBridge
import AccessoryDrivers
import AccessoryIO
import AccessoryLink
import AccessoryProtocols
import AccessorySharing
import FamilyAF1
import FamilyEV3

@testable import OwnGadget

/// The Swift that pages of the documentation show, to the letter: `PageTests` compares, and runs what needs no accessory
/// of its own.
enum PageSnippets {
  /// README.md
  static func first() async throws {
    let accessory = try await Accessories().open("SIM0001")  // through the service if that has it open
    print(try await accessory.battery().percent ?? 0)
  }

  /// README.md
  static func parts() async throws {
    let session = try await AccessorySession.open(TerminalConfiguration(path: "/dev/ttyACM0", baudRate: 57_600))
    let accessory = try await AF1Accessory.open(session)
    print(try await accessory.identify().name, try await accessory.battery().percent ?? "unknown")
    for try await event in accessory.events() { print(event) }  // ends with `disconnected` when it is unplugged
  }

  /// Documentation/swift.md
  static func changes(of accessories: Accessories) async throws {
    for try await change in try await accessories.changes() {
      switch change {
      case .appeared(let known): print("\(known.device.id) is there")
      case .changed(let known, from: _): print("\(known.device.id): \(known.service ?? "no service") has it")
      case .disappeared(let known): print("\(known.device.id) is gone")
      }
    }
  }

  /// Documentation/swift.md
  static func commands(of name: String, _ accessories: Accessories) async throws -> (any Accessory, [CommandReply]) {
    let brick = try await accessories.open(name)
    for command in try await brick.commands() { print(command.form, "-", command.summary) }
    try await brick.perform("led", ["pattern": "orangeFlash"])
    if case .whole(let percent)? = try await brick.perform("battery-percent")["percent"] { print("\(percent) %") }

    let commands = try await brick.commands()
    let calls = [
      try CommandCall("motor-speed", ["ports": "A,B", "speed": "50"], of: commands),
      try CommandCall("motor-start", ["ports": "A,B"], of: commands),
    ]
    let replies = try await brick.perform(calls, isAnswered: true)  // one for each, with its `values`
    return (brick, replies)
  }

  /// Documentation/own-gadget.md
  static func lamp(at path: String) async throws -> any Accessory {
    var drivers = DriverLibrary.builtIn
    drivers.register(Lamp.driver)
    var profile = Profile(name: "lamp", rules: [DeviceRule(path: path)])  // or serialNumber: "LAMP1"
    profile.driver = "lamp"
    let accessories = Accessories(sources: [UdevSource()], profiles: ProfileStore([profile]), drivers: drivers)
    let lamp = try await accessories.open(path)
    try await lamp.perform("light", ["level": "40"])
    return lamp
  }

  /// Documentation/values.md
  static func values(_ accessory: any Accessory) async throws {
    for value in try await accessory.values() {
      if let number = value.number { print(value.name, number, value.unit?.rawValue ?? "") }
    }
    for try await event in accessory.news() {
      if case .values(let values) = event { print(values.count) }  // if the accessory reports them by itself
    }
  }

  /// Documentation/trace.md
  static func frames(_ codec: HeaderCodec, _ records: [TraceRecord]) -> [TraceEntry] {
    let reader = CodecFrameReader(codec) { header, outcome, payload, direction in
      FrameWords("Gadget", "frame", title: "command \(header[2])", summary: FrameWords.preview(payload))
    }
    var tracer = FrameTracer(silence: .milliseconds(50), reader: reader)
    return records.flatMap { tracer.add($0) } + tracer.finish()
  }

  /// Documentation/usb.md
  static func endpoints() async throws -> AccessorySession {
    var configuration = USBTransportConfiguration(path: "/dev/bus/usb/001/004")
    configuration.interface = 0
    let session = try await AccessorySession.open(configuration)
    return session
  }

  /// Documentation/ev3.md
  static func brick(_ session: AccessorySession) async throws -> Int {
    let brick = try await EV3Brick.open(session)
    let percent = try await brick.ask(.batteryPercent)  // Int
    try await brick.tell(.tone(volume: 50, frequency: 440, duration: .milliseconds(200)))  // not waited for

    var batch = EV3Batch()
    try batch.add(.step(speed: 50, constant: 360, motors: [.a, .b]))
    try batch.add(.motorsReady([.a, .b]))
    let count = try batch.add(.motorCount(0))
    let reply = try await brick.send(batch)
    print(reply[count])
    await brick.close()
    return percent
  }

  /// Documentation/hm10.md
  static func neighbours(_ session: AccessorySession) async throws -> Int {
    let module = try await HM10Module.open(session)
    let percent = try await module.batteryPercent()
    try await module.set(.power, to: HM10Power.plus6.rawValue)

    let central = HM10Central([module])  // several modules: several connections
    try await central.start()  // searches for 5 s in the background, too
    for await event in await central.events() {
      if event == .searchEnded { break }
    }
    if let nearest = await central.strongestFirst.first {
      try await central.connect(to: nearest.address)
      try await central.send(Array("hello".utf8), to: nearest.address)
    }
    return percent
  }

  /// Documentation/bluno.md
  static func robot(_ session: AccessorySession) async throws -> String {
    let robot = try await BlunoRobot.open(session)
    let remote = try BlunoRemoteFile.usual?.load() ?? BlunoRemote()
    try await robot.send(.key(.up), by: remote)
    for try await text in robot.texts() { print(text) }  // its text, without empty lines
    let version = try await robot.text(of: .version)  // AT mode, until something is sent to the robot
    return version
  }

  /// Documentation/send-file.md
  static func file(_ session: AccessorySession) async throws {
    let accessory = try await AF1Accessory.open(session)
    var transfer = AF1Transfer(try await DiskFile.open("firmware.bin"), kind: .firmware, name: "firmware.bin")
    try await transfer.run(on: accessory) { done, total in print(done, total) }
  }
}
