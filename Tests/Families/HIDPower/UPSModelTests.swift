// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryProtocols
import TestSupport
import Testing

@testable import FamilyHIDPower
@testable import FamilyHIDPowerSimulator

/// The simulated UPSs of several makers, read by the driver's own eyes.
@Suite struct UPSModelTests {
  /// What is told of a UPS in this state.
  private func told(
    _ model: UPSModel, _ change: (inout UPSState) -> Void = { _ in }
  ) throws -> (reports: PowerReports, descriptor: HIDReportDescriptor) {
    var state = UPSState(percent: 60, fullRunTime: 2_400)
    change(&state)
    model.spoil(&state)
    let descriptor = HIDReportDescriptor(model.descriptor)
    let identity = model.identity
    var reports = PowerReports(
      descriptor, PowerQuirks.of(vendor: identity.vendorID, product: identity.productID))
    for (kind, report) in state.reports([.feature, .input], of: descriptor) { reports.take(kind, report) }
    return (reports, descriptor)
  }

  @Test(arguments: UPSModel.allCases) func everyMakersUPSTellsItsBattery(_ model: UPSModel) throws {
    let (mains, descriptor) = try told(model)
    #expect(descriptor.damage == nil)
    #expect(descriptor.applications == [HIDUsage(page: 0x84, id: 0x04)])
    #expect(mains.battery().percent == 60)
    #expect(mains.battery().timeToEmpty == .seconds(1_440))
    #expect(mains.battery().charge == .charging)
    let (battery, _) = try told(model) {
      $0.hasMains = false
      $0.percent = 12
    }
    #expect(battery.battery().charge == .discharging)
    #expect(battery.values().first { $0.name == "on_battery" }?.content == .flag(true))
    #expect(battery.battery().percent == 12)
  }

  /// The voltage of the battery is that which the state has, also where the maker's firmware tells another.
  @Test(arguments: UPSModel.allCases) func everyMakersBatteryVoltageIsRight(_ model: UPSModel) throws {
    let nominal = model == .cyberpower501 ? 12.0 : 24
    let right = (22 + 0.6 * 5) / 24 * nominal * 1_000
    let millivolts = try #require(try told(model).reports.battery().millivolts)
    #expect(abs(Double(millivolts) - right) <= 100, "\(millivolts) of \(right)")
  }

  @Test(arguments: [UPSModel.cyberpower, .apc, .eaton]) func makersTellTheInputAndTakeCommands(
    _ model: UPSModel
  ) throws {
    let (reports, _) = try told(model)
    #expect(reports.values().first { $0.name == "input_voltage" }?.number == 230)
    for command in [PowerCommand.beeper, .loadOff] {
      let field = try #require(command.usages.compactMap { try reports.fields.setting($0) }.first, "\(command)")
      let delay = command == .loadOff ? field.number(for: 60) : 1
      var report = [UInt8](repeating: 0, count: 16)
      report[0] = field.report
      #expect(field.put(try #require(delay), into: &report))
    }
  }

  /// APC has the delay on a page of its own.
  @Test func theSwitchingOffOfAnAPCIsFoundOnItsOwnPage() throws {
    let (reports, descriptor) = try told(.apc)
    #expect(try reports.fields.setting(PowerUsage.delayBeforeShutdown) == nil)
    let field = try #require(try reports.fields.setting(PowerUsage.apcDelayBeforeShutdown))
    var state = UPSState()
    var report = [UInt8](repeating: 0, count: descriptor.byteCount(of: .init(kind: .feature, number: field.report))!)
    report[0] = field.report
    #expect(field.put(90, into: &report))
    #expect(state.take(report, of: descriptor) == [PowerUsage.apcDelayBeforeShutdown])
    #expect(state.shutdownDelay == 90)
  }

  // MARK: - The table of faults

  private func read(_ text: String) throws -> [UInt32: PowerQuirks] { try PowerQuirks.read(Array(text.utf8)) }

  @Test func theTableOfFaultsIsReadStrictly() throws {
    #expect(PowerQuirks.of(vendor: 0x0764, product: 0x0501).scalesBatteryVoltage)
    #expect(PowerQuirks.of(vendor: 0x0764, product: 0x0601) == PowerQuirks(scalesFrequency: true))
    #expect(PowerQuirks.of(vendor: 0x0463, product: 0xFFFF) == PowerQuirks(goodIsOutput: true))
    #expect(PowerQuirks.of(vendor: 0x051D, product: 0x0002) == .none)
    #expect(try read("- {usb: \"1234:abcd\", frequency: tenths}") == [0x1234_ABCD: PowerQuirks(scalesFrequency: true)])
    for wrong in [
      "x", "- 1", "- {frequency: tenths}", "- {usb: \"1234\"}", "- {usb: \"1234:5678\", frequency: tens}",
      "- {usb: \"1234:5678\"}\n- {usb: \"1234:5678\"}", "- {usb: \"1234:5678\", colour: red}",
    ] {
      #expect(throws: (any Error).self, "\(wrong)") { try read(wrong) }
    }
  }
}
