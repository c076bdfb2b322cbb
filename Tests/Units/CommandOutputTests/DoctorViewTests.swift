// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryIO
import CommandOutput
import Testing

/// What `doctor` shows: one line for all that is well, and everything where something is wrong.
@Suite struct DoctorViewTests {
  private func port(
    _ path: String, _ problem: String? = nil, _ holder: Bridge.AttachmentState? = nil
  ) -> DoctorView.Patient {
    var report = PortReport(missing: path, problem ?? "")
    if problem == nil {
      report.findings = []
      report.add("device", .ok, "\(path) exists")
      report.add("permission", .ok, "you may read and write it")
    }
    return DoctorView.Patient(report, holder: holder)
  }

  @Test func aHealthyPortIsOneLine() {
    #expect(
      DoctorView.lines([port("/dev/pts/1")], Samples.pipe) == [
        "Nothing stands in the way of /dev/pts/1. --details shows all checks."
      ])
    #expect(
      DoctorView.lines([port("/dev/pts/1"), port("/dev/pts/2")], Samples.pipe) == [
        "Nothing stands in the way of 2 ports. --details shows all checks."
      ])
    #expect(
      DoctorView.lines([port("/dev/pts/1"), port("/dev/pts/2", nil, .attached)], Samples.pipe, columns: 40) == [
        "Nothing stands in the way of /dev/pts/1;", "  the service has /dev/pts/2 open, and",
        "  commands go through it. --details", "  shows all checks.",
      ])
    #expect(DoctorView.lines([], Samples.pipe).count == 1)
  }

  @Test func detailsOfAPortListItsFindings() {
    #expect(
      DoctorView.lines([port("/dev/pts/1")], details: true, Samples.pipe) == [
        "/dev/pts/1", "  ok       device        /dev/pts/1 exists",
        "  ok       permission    you may read and write it",
      ])
    // A port that the service lends to somebody is told of.
    #expect(DoctorView.lines([port("/dev/pts/1", nil, .lent)], Samples.pipe).count == 3)
    var address = PortReport(missing: "tcp:host:1", "")
    address.findings = []
    address.add("device", .ok, "tcp:host:1 is a network address")
    #expect(DoctorView.lines([.init(address)], Samples.pipe) == ["tcp:host:1 is a network address"])
  }

  @Test func aPortWithAProblemIsShownAsAWhole() {
    let patients = [
      port("/dev/pts/1"), port("/dev/ttyUSB9", "there is no /dev/ttyUSB9: is the accessory plugged in?"),
    ]
    let rest = "Nothing stands in the way of /dev/pts/1. --details shows all checks."
    #expect(
      DoctorView.lines(patients, Samples.pipe, columns: 80) == [
        "/dev/ttyUSB9", "  problem  device        there is no /dev/ttyUSB9: is the accessory plugged in?", rest,
      ])
    #expect(
      Array(DoctorView.lines(patients, Samples.pipe, columns: 60).prefix(3)) == [
        "/dev/ttyUSB9", "  problem  device        there is no /dev/ttyUSB9: is the",
        "                         accessory plugged in?",
      ])
    #expect(
      Array(DoctorView.lines(patients, Samples.pipe, columns: 40).prefix(4)) == [
        "/dev/ttyUSB9", "  problem  device        there is no", "    /dev/ttyUSB9: is the accessory", "    plugged in?",
      ])
  }
}
