// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import MessageBus
import TestSupport
import Testing

@testable import AccessoryBluetooth

/// What is said about a computer's Bluetooth.
@Suite struct BluetoothDoctorTests {
  private func judge(_ isPowered: Bool?, _ kernel: [String]) -> PortReport {
    var objects = BluetoothObjects()
    if let isPowered {
      objects.added(
        BusMessage(
          sender: ":1.5",
          values: [
            .path("/org/bluez/hci0"),
            .dictionary([
              .init(.text("org.bluez.Adapter1"), .dictionary([.init(.text("Powered"), .boolean(isPowered))]))
            ]),
          ]))
    }
    var report = PortReport(named: "bluetooth")
    BluetoothDoctor.judge(objects, kernel, &report)
    return report
  }

  @Test func adapters() {
    #expect(judge(true, ["hci0"]).findings.map(\.severity) == [.ok])
    let off = judge(false, ["hci0"]).findings
    #expect(off.map(\.kind) == [.misconfigured] && off[0].message.contains("bluetoothctl power on"))
    #expect(judge(nil, []).findings.map(\.kind) == [.notFound])
    #expect(judge(nil, ["hci0"]).findings[0].message.contains("restart bluetooth"))
  }

  /// An adapter that nobody uses doesn't make `doctor` fail.
  @Test func whereNobodyAsksNothingIsAProblem() {
    let report = BluetoothDoctor.withoutProblems(judge(false, ["hci0"]))
    #expect(report.findings.map(\.severity) == [.warning] && report.findings[0].kind == nil)
  }

  @Test func switches() throws {
    let directory = try TemporaryDirectory()
    for (name, kind, soft, hard) in [
      ("rfkill0", "wlan", "1", "0"), ("rfkill1", "bluetooth", "0", "0"), ("rfkill2", "bluetooth", "0", "1"),
      ("rfkill3", "bluetooth", "1", "0"),
    ] {
      try directory.makeFolders(of: "\(name)/x")
      for (file, text) in [("type", kind), ("soft", soft), ("hard", hard), ("name", "hci-\(name)\u{1B}")] {
        try directory.write(Array((text + "\n").utf8), to: "\(name)/\(file)")
      }
    }
    let blocked = BluetoothDoctor.blocked(directory.path)
    #expect(blocked.count == 2 && blocked[0].hasPrefix("hci-rfkill2") && blocked[1].hasPrefix("hci-rfkill3"))
    #expect(!blocked.joined().contains("\u{1B}"))
    #expect(BluetoothDoctor.blocked("/nowhere") == [])
  }
}
