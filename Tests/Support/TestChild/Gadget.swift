// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols
import Glibc
import TestSupport

/// An AF1 accessory as a function of a USB gadget of this kernel's: two bulk endpoints by FunctionFS, which is mounted
/// already. Ends when it is killed.
enum Gadget {
  /// How it behaves.
  enum Manner: String {
    /// Answers.
    case answering
    /// Takes nothing.
    case deaf
    /// Tells of its status without a pause.
    case talking
  }

  static func run(_ folder: String, _ manner: Manner, _ report: (String) -> Void) {
    let control = open("\(folder)/ep0", O_RDWR)
    guard control >= 0, put(descriptors, control), put(strings, control) else { return report("failed: \(errno)") }
    let (input, output) = (open("\(folder)/ep1", O_RDWR), open("\(folder)/ep2", O_RDWR))
    guard input >= 0, output >= 0 else { return report("failed: \(errno)") }
    report("ready")
    switch manner {
    case .answering: answer(from: output, to: input)
    case .deaf: while readLine() != nil {}
    case .talking: talk(to: input)
    }
  }

  /// Both calls wait until the host has configured the device, and fail when it is unplugged: then for the next time.
  private static func answer(from output: CInt, to input: CInt) {
    let accessory = ScriptedAccessory { request in
      switch request.command {
      case .battery: .reply([2])
      case .status: .reply([1, 0, 0, 7])
      case .echo: .reply(request.payload)
      default: .silence
      }
    }
    var buffer = [UInt8](repeating: 0, count: 16_384)
    while true {
      let count = read(output, &buffer, buffer.count)
      guard count > 0 else { continue }
      let reply = accessory.take(Array(buffer.prefix(count)))
      if !reply.isEmpty { _ = put(reply, input) }
    }
  }

  private static func talk(to input: CInt) {
    var number: UInt16 = 0
    while true {
      _ = put(ScriptedAccessory.event(.status, number: number, [1, 0, 0, 7]), input)
      number &+= 1
    }
  }

  private static func put(_ bytes: [UInt8], _ descriptor: CInt) -> Bool {
    write(descriptor, bytes, bytes.count) == bytes.count
  }

  // MARK: - What FunctionFS wants to know, by linux/usb/functionfs.h

  private static var descriptors: [UInt8] {
    let full = interface + endpoint(0x81, packet: 64) + endpoint(0x02, packet: 64)
    let high = interface + endpoint(0x81, packet: 512) + endpoint(0x02, packet: 512)
    // FUNCTIONFS_HAS_FS_DESC and FUNCTIONFS_HAS_HS_DESC, and how many descriptors there are for each.
    let body = [3, 3, 3].flatMap { word($0) } + full + high
    return word(3) + word(UInt32(8 + body.count)) + body  // FUNCTIONFS_DESCRIPTORS_MAGIC_V2
  }

  private static var strings: [UInt8] {
    let body = word(0) + word(0)
    return word(2) + word(UInt32(8 + body.count)) + body  // FUNCTIONFS_STRINGS_MAGIC
  }

  /// Vendor-specific, with two endpoints.
  private static let interface: [UInt8] = [9, 4, 0, 0, 2, 0xFF, 0, 0, 0]

  private static func endpoint(_ address: UInt8, packet: UInt16) -> [UInt8] {
    [7, 5, address, 2, UInt8(packet & 0xFF), UInt8(packet >> 8), 0]
  }

  private static func word(_ value: UInt32) -> [UInt8] { withUnsafeBytes(of: value.littleEndian) { Array($0) } }
}
