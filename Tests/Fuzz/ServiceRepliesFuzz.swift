// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryIO
import AccessoryLink
import AccessoryProtocols
import Console
import FamilyAF1

// A target for libFuzzer: what a service answers, read as a client reads it and shown as the commands show it. The first
// byte chooses the method; the second, whether the rest is the answer itself, or chooses the numbers of a good answer, or
// is numbers for what shows them. Built with the sources of all this: see `run`.

private let device =
  #"{"id":"X1","path":"/dev/null","source":"named","links":["a"],"ways":["serial"],"initialized":true,"usb":"#
  + #"{"vendor_id":1,"product_id":2,"bus":3,"address":4,"node":"n","port":"p","speed_mbps":480,"configuration":1,"#
  + #""interfaces":[{"number":0,"alternate_setting":0,"class":2,"subclass":2,"protocol":1,"endpoints":"#
  + #"[{"address":1,"interval":1,"direction":"in","transfer":"bulk","max_packet_bytes":64}]}]}}"#
private let accessory = #"{"device":\#(device),"state":"attached","tries":1}"#
private let battery =
  #"{"level":"low","level_origin":"reported","charge":"full","percent":5,"voltage_mv":3712,"current_ma":-3}"#
private let identity = #"{"manufacturer":"","name":"","model":"","serial":"","firmware":"","hardware":""}"#
private let status = #"{"state":"idle","fault_code":1,"progress_percent":7}"#
private let line =
  #"{"baud":9600,"data_bits":8,"stop_bits":1,"parity":"none","flow_control":"none","lowers_lines_on_close":true,"#
  + #""rs485_delay_before_ms":1,"rs485_delay_after_ms":1,"latency_timer_ms":16}"#

/// Numbers at which something ends.
private let edges = [
  "0", "-0", "-1", "1", "100", "101", "127", "128", "255", "256", "65535", "65536", "4294967295", "4294967296",
  "9007199254740992", "9007199254740993", "9223372036854775807", "-9223372036854775808", "9223372036854775808", "1e18",
  "1e19", "1e300", "-1e300", "1e309", "5e-324", "0.5", "1e0", "1E+2", "99999999999999999999999999",
]

/// Bytes, one after another; 0 behind the last.
private struct Input {
  var bytes: ArraySlice<UInt8>

  mutating func byte() -> UInt8 { bytes.popFirst() ?? 0 }

  mutating func number() -> Int {
    switch byte() % 4 {
    case 0: Int(Int8(bitPattern: byte()))
    case 1: Int.max - Int(byte())
    case 2: Int.min + Int(byte())
    default: (0..<8).reduce(0) { number, _ in number << 8 | Int(byte()) }
    }
  }
}

/// The value with its numbers replaced as the input says.
private func vary(_ value: JSON, _ input: inout Input) -> JSON {
  switch value {
  case .number(let digits):
    switch input.byte() {
    case 0..<100: return .number(digits)
    case 100..<230: return .number(edges[Int(input.byte()) % edges.count])
    default: return .int(input.number())
    }
  case .array(let values): return .array(values.map { vary($0, &input) })
  case .object(let fields):
    return .object(
      Dictionary(uniqueKeysWithValues: fields.sorted { $0.key < $1.key }.map { ($0.key, vary($0.value, &input)) }))
  default: return value
  }
}

// MARK: - What clients do with an answer

private func show(_ device: Device) {
  if let speed = device.usb?.speed { _ = DecimalText.short(speed) }
}

private func show(_ battery: BatteryReading) {
  if let percent = battery.percent {
    precondition(percent <= 100, "more than all")
    precondition(LevelBar.text(percent).count == 20, "a bar of another length")
  }
  _ = battery.millivolts.map(DecimalText.thousandths)
  _ = battery.milliamperes.map(DecimalText.thousandths)
}

private func show(age: Int?) {
  guard let age else { return }
  precondition(!DecimalText.tenths(ofSeconds: age).hasPrefix("-"), "younger than now")
}

private func show(done: Int, total: Int, before: Int) {
  var pace = TransferPace()
  for (index, done) in [before, done].enumerated() {
    pace.note(done, at: MonotonicTime(nanoseconds: Int64(index) * 200_000_000))
    _ = ProgressText.line(
      done: done, total: total, rate: pace.rate, timeLeft: pace.timeLeft(of: total), columns: 79)
  }
}

private func show(_ piece: Bridge.TracePiece) {
  guard let bytes = piece.bytes, let moment = piece.moment, let direction = ByteDirection(rawValue: piece.direction)
  else { return }
  let start = MonotonicTime(nanoseconds: 1_000)
  let record = TraceRecord(
    time: max(.zero, moment - start), direction: direction, bytes: bytes, lostBytes: piece.lost_bytes ?? 0)
  var tracer = FrameTracer(
    silence: .milliseconds(50), reader: CodecFrameReader(AF1Codec(maximumPayload: 65_535), name: "AF1"))
  for entry in tracer.add(record) + tracer.finish() { _ = Recording.seconds(entry.time) }
  // It is in a recording as it came.
  var reader = RecordingReader()
  var lines: [Recording.Line] = []
  let text = Recording.start(silence: .milliseconds(50)) + Recording.line(record)
  do { try reader.read(Array(text.utf8), into: &lines) } catch { preconditionFailure("\(error)") }
  let again = lines.compactMap { if case .record(let record) = $0 { record } else { nil } }
  precondition(again.flatMap(\.bytes) == bytes, "other bytes are read than were recorded")
  precondition(again.reduce(0) { $0 + $1.lostBytes } == record.lostBytes, "other losses are read than were recorded")
  precondition(again.allSatisfy { $0.time == record.time }, "another time is read than was recorded")
}

private func read<Method: ControlMethod>(_ message: [UInt8], _ method: Method.Type, _ show: (Method.Reply) -> Void) {
  do throws(ControlError) {
    show(try ReplyMessage.read(message, to: method).reply)
  } catch {
    precondition(!error.accessoryError.message.isEmpty, "nothing is said")
  }
}

/// A good answer to each method, and what is made of it.
private let methods: [(answer: String, read: @Sendable ([UInt8]) -> Void)] = [
  (
    #"{"product":"p","version":"1","process":3,"started":1795337583.5,"uptime_ms":4,"socket":"/s","accessories":2,"#
      + #""attached":1,"clients":3,"limits":{"accessories":9,"attached":8,"clients":7,"clients_of_one_user":6}}"#,
    { read($0, Bridge.GetService.self) { precondition($0.uptime_ms >= 0 && $0.started.isFinite) } }
  ),
  (#"{"accessories":[\#(accessory)]}"#, { read($0, Bridge.List.self) { $0.accessories.forEach { show($0.device) } } }),
  (
    #"{"accessory":\#(accessory),"line":\#(line),"identity":\#(identity),"#
      + #""protocol":{"name":"AF1","largest_payload_bytes":256,"window":4}}"#,
    { read($0, Bridge.GetInfo.self) { show($0.accessory.device) } }
  ),
  (
    #"{"device":\#(device),"battery":\#(battery),"age_ms":3}"#,
    {
      read($0, Bridge.GetBattery.self) {
        show($0.read.value)
        show(age: $0.read.age?.inMilliseconds)
      }
    }
  ),
  (
    #"{"device":\#(device),"status":\#(status),"identity":\#(identity),"age_ms":3}"#,
    { read($0, Bridge.GetStatus.self) { show(age: $0.read.age?.inMilliseconds) } }
  ),
  (
    #"{"event":"battery","time":1.5,"device":\#(device),"battery":\#(battery),"status":\#(status)}"#,
    {
      read($0, Bridge.Subscribe.self) {
        $0.battery.map { show($0) }
        $0.device.map { show($0) }
      }
    }
  ),
  (
    #"{"time":1.5,"direction":"from_device","bytes_hex":"0ff01200172a080084d401eeffc0001001009bd3fbf2","lost_bytes":3}"#,
    { read($0, Bridge.Trace.self) { show($0) } }
  ),
  (
    #"{"event":"piece","size_bytes":10,"offset":3,"bytes_hex":"00","resumptions":1,"device":\#(device)}"#,
    { read($0, Bridge.GetFile.self) { show(done: $0.offset ?? 0, total: $0.size_bytes ?? 0, before: 0) } }
  ),
  (
    #"{"event":"wanted","transfer":"t","offset":3,"count_bytes":5,"done_bytes":4,"resumptions":1}"#,
    {
      read($0, Bridge.SendFile.self) {
        let end = ($0.offset ?? 0) + ($0.count_bytes ?? 0)  // counts can be added
        show(done: $0.done_bytes ?? 0, total: end, before: $0.offset ?? 0)
      }
    }
  ),
  (
    #"{"device":\#(device),"entries":[{"name":"n","kind":"file","size_bytes":3}]}"#,
    { read($0, Bridge.ListFolder.self) { precondition($0.entries.allSatisfy { $0.size ?? 0 >= 0 }) } }
  ),
  (
    #"{"device":\#(device),"driver":"d","commands":[{"name":"n","summary":"s","results":[],"arguments":"#
      + #"[{"name":"a","kind":"whole","minimum":-1,"maximum":1,"limit":5}]}]}"#,
    {
      read($0, Bridge.GetCommands.self) {
        for argument in $0.commands.flatMap(\.arguments) {
          _ = argument.kind.shortForm
        }
      }
    }
  ),
  (
    #"{"device":\#(device),"replies":[{"command":"c","values":[{"kind":"number","number":0.5,"whole":1}]}]}"#,
    {
      read($0, Bridge.Perform.self) {
        for case .number(let number) in $0.replies.flatMap(\.values) { precondition(number.isFinite, "no number") }
      }
    }
  ),
  (
    #"{"device":\#(device),"command":"c","command_byte":1,"reply":{"payload_hex":"00","payload_bytes":1}}"#,
    { read($0, Bridge.Request.self) { _ = $0.reply.payload } }
  ),
  (
    #"{"device":\#(device),"loan":"l","line":\#(line)}"#,
    {
      read($0, Bridge.Open.self) {
        guard let line = $0.line else { return }
        precondition((0...64).contains(line.data_bits + line.stop_bits), "a character of that length")
      }
    }
  ),
]

/// Called by libFuzzer with each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOne(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  guard let data, count > 2 else { return 0 }
  var input = Input(bytes: Array(UnsafeBufferPointer(start: data, count: count))[...])
  let method = methods[Int(input.byte()) % methods.count]
  switch input.byte() % 3 {
  case 0: method.read(Array(input.bytes))
  case 1:
    guard let answer = try? JSON(Array(method.answer.utf8)) else { preconditionFailure("a good answer is none") }
    method.read(JSON.object(["parameters": vary(answer, &input)]).bytes)
  default:
    // What shows a number takes any.
    _ = DecimalText.thousandths(input.number()) + DecimalText.tenths(ofSeconds: input.number())
    _ = DecimalText.short(Double(bitPattern: UInt64(bitPattern: Int64(input.number()))))
    precondition(LevelBar.text(Int(input.byte())).count == 20, "a bar of another length")
    show(done: input.number(), total: input.number(), before: input.number())
    _ = Recording.seconds(.nanoseconds(Int64(input.number())))
  }
  return 0
}
