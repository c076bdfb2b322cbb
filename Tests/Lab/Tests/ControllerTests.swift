// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import AccessoryIO
import AccessoryLink
import AccessoryProtocols
import FamilyAF1
import Glibc
import TestSupport
import Testing

/// An accessory made of this kernel's own gadget functions, on the host controller that dummy_hcd pretends. Like a real
/// controller it ends transfers with an error before anybody knows that the device is gone; vhci_hcd knows at once.
private final class GadgetDevice: Sendable {
  private static let folder = "/sys/kernel/config/usb_gadget/accessory"
  private static let functions = "/dev/ffs-accessory"
  private let child: ChildProcess

  init(_ manner: String = "answering") async throws {
    for module in ["libcomposite", "usb_f_fs", "dummy_hcd"] {
      try #require(try Process.run(["/sbin/modprobe", module]) == 0, "no \(module)")
    }
    if !Kernel.exists("/sys/kernel/config/usb_gadget") {
      try #require(mount("none", "/sys/kernel/config", "configfs", 0, nil) == 0)
    }
    let folder = Self.folder
    for part in ["", "/strings/0x409", "/configs/c.1", "/functions/ffs.accessory"] { mkdir(folder + part, 0o755) }
    let texts = [
      "idVendor": "0x1209", "idProduct": "0x0001", "strings/0x409/serialnumber": "GADGET1",
      "strings/0x409/manufacturer": "Accessory Bridge", "strings/0x409/product": "Gadget",
    ]
    for (name, text) in texts { try #require(Self.put(text, "\(folder)/\(name)")) }
    symlink("\(folder)/functions/ffs.accessory", "\(folder)/configs/c.1/ffs.accessory")
    mkdir(Self.functions, 0o755)
    try #require(mount("accessory", Self.functions, "functionfs", 0, nil) == 0, "functionfs: \(errno)")
    child = try ChildProcess("gadget", Self.functions, manner)
    let line = try await child.readLine()
    try #require(line == "ready", "\(line)")
  }

  deinit {
    Self.unplug()
    kill(child.pid, SIGKILL)
    waitpid(child.pid, nil, 0)
    umount2(Self.functions, CInt(MNT_DETACH))
    unlink("\(Self.folder)/configs/c.1/ffs.accessory")
    for part in ["/configs/c.1", "/functions/ffs.accessory", "/strings/0x409", ""] { rmdir(Self.folder + part) }
  }

  /// Returns the node.
  func plug() async throws -> String {
    try #require(Self.put("dummy_udc.0", "\(Self.folder)/UDC"), "UDC: \(errno)")
    var path = ""
    try await eventually("the gadget to be seen", within: .seconds(30)) {
      let names = Directory.names(in: "/sys/bus/usb/devices")
      guard let name = names.first(where: { Kernel.text("/sys/bus/usb/devices/\($0)/serial") == "GADGET1" }) else {
        return false
      }
      path = "/sys/bus/usb/devices/\(name)"
      return true
    }
    return try await Kernel.node(path, .bulk, serial: "GADGET1")
  }

  static func unplug() { _ = put("\n", "\(folder)/UDC") }

  private static func put(_ text: String, _ path: String) -> Bool {
    let descriptor = Glibc.open(path, O_WRONLY | O_CLOEXEC)
    defer { close(descriptor) }
    return descriptor >= 0 && write(descriptor, text, text.utf8.count) == text.utf8.count
  }
}

extension Plain {
  /// What happens on a controller that tells of errors first looks the same to the caller.
  @Suite struct ControllerTests {
    private func expectDisconnect(_ transport: USBTransport, _ reader: InputReader, _ what: String) async throws {
      let start = MonotonicTime.now
      GadgetDevice.unplug()
      let ending = try await reader.readToEnd()
      print("lab: dummy_hcd, \(what): the end was known \(MonotonicTime.now - start) after the unplug")
      #expect(ending.error?.kind == .disconnected)
      #expect(try await reader.readToEnd() == .init(error: ending.error), "once")
      #expect(transport.output.offer([1]) == .closed(ending.error))
      await transport.close()
    }

    private func expectAnswer(_ node: String) async throws {
      let transport = try await USBTransport.open(USBTransportConfiguration(path: node))
      let accessory = try await AF1Accessory.open(AccessorySession(transport))
      #expect(try await accessory.battery() == BatteryReading(level: .normal))
      for length in [1, 511, 512, 513, 4_000] {
        let bytes = (0..<length).map { UInt8(truncatingIfNeeded: $0) }
        #expect(try await accessory.echo(bytes) == bytes)
      }
      await accessory.close()
    }

    @Test func unpluggingAnIdleGadgetIsADisconnection() async throws {
      let gadget = try await GadgetDevice()
      for _ in 1...3 {
        let node = try await gadget.plug()
        try await expectAnswer(node)
        let transport = try await USBTransport.open(USBTransportConfiguration(path: node))
        try await expectDisconnect(transport, InputReader(transport.input), "idle")
        try await Kernel.waitForNo(node)
      }
    }

    @Test func unpluggingATalkingGadgetIsADisconnection() async throws {
      let gadget = try await GadgetDevice("talking")
      let node = try await gadget.plug()
      let transport = try await USBTransport.open(USBTransportConfiguration(path: node))
      let reader = InputReader(transport.input)
      _ = try await reader.read(200)
      try await expectDisconnect(transport, reader, "mid-read")
    }

    @Test func unpluggingADeafGadgetFailsTheWrite() async throws {
      let gadget = try await GadgetDevice("deaf")
      let node = try await gadget.plug()
      let transport = try await USBTransport.open(USBTransportConfiguration(path: node))
      let session = AccessorySession(transport)
      let writing = Task { () -> AccessoryError? in
        do throws(AccessoryError) {
          while true { try await session.write([UInt8](repeating: 7, count: 1_000)) }
        } catch {
          return error
        }
      }
      try await eventually("the way to be full") { transport.output.queuedCount > 4_000 }
      try await expectDisconnect(transport, InputReader(transport.input), "mid-write")
      #expect(await writing.value?.kind == .disconnected)
    }

    @Test func unpluggingAGadgetFailsTheRequest() async throws {
      let gadget = try await GadgetDevice()
      let node = try await gadget.plug()
      let transport = try await USBTransport.open(USBTransportConfiguration(path: node))
      let accessory = try await AF1Accessory.open(AccessorySession(transport))
      let asking = Task { () -> AccessoryError? in
        do throws(AccessoryError) {
          while true { _ = try await accessory.status() }
        } catch {
          return error
        }
      }
      _ = try await accessory.status()
      GadgetDevice.unplug()
      #expect(await asking.value?.kind == .disconnected)
      await accessory.close()
      try await expectAnswer(try await gadget.plug())
    }

    @Test func unpluggingWhileOpeningOrClosingAGadgetIsReported() async throws {
      let gadget = try await GadgetDevice()
      let node = try await gadget.plug()
      let opening = Task { try await USBTransport.open(USBTransportConfiguration(path: node)) }
      GadgetDevice.unplug()
      do {
        let transport = try await opening.value
        #expect(try await InputReader(transport.input).readToEnd().error?.kind == .disconnected)
        await transport.close()
      } catch let error as AccessoryError {
        #expect([.disconnected, .notFound].contains(error.kind), "\(error)")
      }
      let transport = try await USBTransport.open(USBTransportConfiguration(path: try await gadget.plug()))
      let reader = InputReader(transport.input)
      async let closed: Void = transport.close()
      GadgetDevice.unplug()
      await closed
      let ending = try await reader.readToEnd()
      #expect(ending.error == nil || ending.error?.kind == .disconnected)
    }
  }
}
