// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore

@testable import AccessoryExport

// A target for libFuzzer: what clients of the exporters send, files of users, and what accessories say of themselves in the
// protocols of others. The first byte says which.

/// A snapshot with one accessory that says `texts` of itself.
private func snapshot(_ texts: [String]) -> ReadingsSnapshot {
  func text(_ index: Int) -> String { index < texts.count ? texts[index] : "x" }
  let device = Device(
    id: text(0), path: text(1), source: .simulator, manufacturer: text(2), model: text(3), serialNumber: text(4))
  var accessory = ExportedAccessory(
    MirroredAccessory(service: "s", device: device), id: text(0), name: ExportName.make(text(0)))
  var battery = BatteryReading(percent: 3, millivolts: 12_345, charge: .discharging)
  (battery.faults, battery.warnings) = ([text(5), text(6)], [text(6), "battery-low"])
  battery.temperatures = [.init(1_000, name: text(7)), .init(2_000, name: text(8))]
  accessory.battery = battery
  accessory.values = ValuesReading(
    [
      AccessoryValue(text(9), unit: MeasurementUnit(rawValue: text(10)), number: 1.5),
      AccessoryValue("mode", content: .choice(word: text(11), number: 2)),
      AccessoryValue("load", unit: .percent, number: 5),
    ], at: MonotonicTime(nanoseconds: 1))
  (accessory.isRead, accessory.driver) = (true, text(12))
  return ReadingsSnapshot(accessories: [accessory], services: [.init(path: "s", isUp: true)])
}

/// All answers of a session that gets these bytes in pieces of at most `size`.
private func answers<Session: ExportSession>(
  _ session: Session, _ bytes: [UInt8], size: Int, _ readings: ReadingsSnapshot
) -> [ExportAnswer] where Session.Readings == ReadingsSnapshot {
  var session = session
  var all: [ExportAnswer] = []
  var start = 0
  while start < bytes.count {
    session.take(Array(bytes[start..<min(start + size, bytes.count)]))
    start += size
    while let request = session.next() {
      _ = session.needsReadings(request)
      let answer = session.answer(request, from: readings, logins: [])
      all.append(answer)
      if answer.isLast { return all }
    }
  }
  return all
}

private func talk(_ bytes: [UInt8], size: Int) {
  let readings = snapshot(["SIM0001"])
  let nut = NUTSession(NUTSession.Configuration(upses: ["RACK"]), address: "::1")
  // A line that is too long is noticed sooner or later, by the pieces; it ends the connection in any case.
  let (whole, cut) = (answers(nut, bytes, size: 65_536, readings), answers(nut, bytes, size: size, readings))
  precondition(whole == cut, "the pieces make a difference")
  for answer in whole {
    let text = String(decoding: answer.bytes, as: UTF8.self)
    precondition(text.isEmpty || text.hasSuffix("\n"))
    precondition(!text.contains("OB ") && !text.contains(" LB"), "an accessory that nobody has named")
    precondition(answer.bytes.count < 65_536 && answer.bytes.allSatisfy { $0 == 10 || (0x20...0x7E).contains($0) })
  }
  let metrics = MetricsSession(hosts: HostNames(), version: "1") { (MonotonicTime(nanoseconds: 1), 1) }
  let http = answers(metrics, bytes, size: 65_536, readings)
  precondition(http.count <= 1 && http == answers(metrics, bytes, size: size, readings), "the pieces make a difference")
  for answer in http { precondition(answer.isLast && answer.bytes.starts(with: Array("HTTP/1.1 ".utf8))) }
}

private func tell(_ bytes: [UInt8]) {
  let texts = bytes.split(separator: 0, omittingEmptySubsequences: false).map { String(decoding: $0, as: UTF8.self) }
  let readings = snapshot(texts)
  for format in [MetricsFormat.prometheus, .openMetrics] {
    let families = AccessoryMetrics.families(readings, now: MonotonicTime(nanoseconds: 5), wallClock: 1, version: "1")
    do {
      _ = try ExpositionParser(format.text(families), format)
    } catch {
      preconditionFailure("\(error)")
    }
  }
  let name = readings.accessories[0].name
  precondition(ExportName.isName(name))
  let session = NUTSession(NUTSession.Configuration(), address: "::1")
  let answer = answers(session, Array("LIST VAR \(name)\n".utf8), size: 100, readings)
  let lines = answer[0].bytes.split(separator: 10)
  precondition(lines.count > 5)
  for line in lines.dropFirst().dropLast() {
    guard let words = NUTLine.words(line), words.count == 4, words[0] == "VAR" else { preconditionFailure("a line") }
    precondition(words[2] != "ups.status" || words[3] == "OL DISCHRG")
  }
}

/// Called by libFuzzer with each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOne(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  guard let data, count > 1 else { return 0 }
  let bytes = Array(UnsafeBufferPointer(start: data + 1, count: count - 1))
  switch data[0] % 4 {
  case 0: _ = try? NUTUsers(bytes)
  case 1: tell(bytes)
  default: talk(bytes, size: Int(data[0]) / 4 + 1)
  }
  return 0
}
