// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryFleet
import AccessoryIO
import Glibc

// fleet-scale BROKER BROKER-PID GATEWAYS ACCESSORIES RATE SECONDS [hold SECONDS]
//
// Publishes that many gateways from this process, changes RATE batteries a second for SECONDS, and prints a line of figures. With
// `hold` it stays connected for that time afterwards, so that others can look at the fleet.

/// The processor time of a process so far, in seconds: the fields 14 and 15 of /proc/PID/stat.
func processorTime(of pid: String) -> Double {
  guard let bytes = try? SmallFile.read("/proc/\(pid)/stat", limit: 4_096) else { return 0 }
  let fields = String(decoding: bytes, as: UTF8.self).split(separator: ")").last?.split(separator: " ") ?? []
  guard fields.count > 12, let user = Double(fields[11]), let system = Double(fields[12]) else { return 0 }
  return (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
}

/// A field of /proc/PID/status in KiB.
func memory(of pid: String, _ field: String) -> Int {
  guard let bytes = try? SmallFile.read("/proc/\(pid)/status", limit: 8_192) else { return 0 }
  let line = String(decoding: bytes, as: UTF8.self).split(separator: "\n").first { $0.hasPrefix(field + ":") }
  return line.flatMap { $0.split(whereSeparator: { $0 == " " || $0 == "\t" }).dropFirst().first }.flatMap { Int($0) }
    ?? 0
}

/// Milliseconds, with one digit.
func milliseconds(_ duration: Duration) -> String {
  let tenths = (duration / .milliseconds(1) * 10).rounded() / 10
  return "\(tenths) ms"
}

/// Prints a line on standard error.
func complain(_ text: String) {
  _ = Array((text + "\n").utf8).withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
}

let words = Array(CommandLine.arguments.dropFirst())
guard words.count >= 6, let broker = try? BrokerAddress(words[0]), let gateways = Int(words[2]), gateways > 0,
  let accessories = Int(words[3]), accessories > 0, let rate = Int(words[4]), rate > 0, let seconds = Int(words[5])
else {
  complain("fleet-scale BROKER BROKER-PID GATEWAYS ACCESSORIES RATE SECONDS [hold SECONDS]")
  exit(EX_USAGE)
}
let hold = words.count == 8 && words[6] == "hold" ? Int(words[7]) ?? 0 : 0
let brokerPID = words[1]

let watcher = Watcher(broker)
let clock = ContinuousClock()
let began = clock.now
let before = (own: processorTime(of: "self"), broker: processorTime(of: brokerPID))
var all: [LoadedGateway] = []
for number in 1...gateways {
  all.append(LoadedGateway(number: number, accessories: accessories, broker: broker))
  // As many connections a second as a broker meets when a site has its power back.
  if number % 50 == 0 { try await Task.sleep(for: .milliseconds(50)) }
}
let deadline = clock.now + .seconds(180)
while watcher.accessoryCount < gateways * accessories, clock.now < deadline {
  try await Task.sleep(for: .milliseconds(50))
}
guard watcher.accessoryCount >= gateways * accessories else {
  complain("only \(watcher.accessoryCount) of \(gateways * accessories) accessories are on the broker")
  exit(EX_UNAVAILABLE)
}
let filled = clock.now - began
let loaded = (own: processorTime(of: "self"), broker: processorTime(of: brokerPID))
try await Task.sleep(for: .seconds(3))

// The load, evenly.
let start = (own: processorTime(of: "self"), broker: processorTime(of: brokerPID), messages: watcher.messageCount)
let loadBegan = clock.now
var number = 0
for second in 0..<(seconds * 20) {
  let due = loadBegan + .milliseconds(50 * second)
  try await clock.sleep(until: due)
  while number < rate * (second + 1) / 20 {
    // A number that no other event of the last hour has.
    let mark = 10_000 + number
    // A prime, so that all accessories have their turn.
    let place = number &* 7_919 % (gateways * accessories)
    watcher.expect(mark)
    all[place % gateways].change(place / gateways, millivolts: mark)
    number += 1
  }
}
try await Task.sleep(for: .seconds(2))
let length = (clock.now - loadBegan) / .seconds(1)
let end = (own: processorTime(of: "self"), broker: processorTime(of: brokerPID))
let (times, missing) = watcher.takeLatencies()
func at(_ part: Double) -> String {
  times.isEmpty ? "-" : milliseconds(times[min(times.count - 1, Int(Double(times.count) * part))])
}
func percent(_ time: Double, _ length: Double) -> String { "\((time / length * 1_000).rounded() / 10) %" }
print(
  "\(gateways) gateways x \(accessories): all on the broker after \(milliseconds(filled))"
    + " (processor: load \(((loaded.own - before.own) * 100).rounded() / 100) s, broker "
    + "\(((loaded.broker - before.broker) * 100).rounded() / 100) s); \(number) events in \(seconds) s: "
    + "median \(at(0.5)), 99th \(at(0.99)), longest \(at(1)), lost \(missing); processor: load "
    + "\(percent(end.own - start.own, length)), broker \(percent(end.broker - start.broker, length)); memory: load "
    + "\(memory(of: "self", "RssAnon")) KiB, broker \(memory(of: brokerPID, "VmRSS")) KiB")
fflush(nil)
if hold > 0 { try await Task.sleep(for: .seconds(hold)) }
await withTaskGroup { group in
  for gateway in all { group.addTask { await gateway.end() } }
}
