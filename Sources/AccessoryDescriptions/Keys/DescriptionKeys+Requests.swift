// SPDX-License-Identifier: Apache-2.0
//
// A row is a line.
// swift-format-ignore-file

import AccessoryConfiguration
import AccessoryProtocols

// The keys that say what is asked, and when.
extension DescriptionKeys {
  static let request = KeyTable("request", "a request", [
    .init("summary", summary, "what it does"),
    .init("send", .shared("bytes", "a framing's name; or bytes"), "what is sent; bytes have no framing", missing: "send is missing: a framing's name, or bytes without framing"),
    .init("with", .other("`{register: 3}`"), "numbers of all the framing's elements; a name in braces is an argument: `{register: \"{register}\"}`"),
    .init("data", .shared("bytes", "bytes, or a list"), "the payload: bytes, `{argument: NAME}`, `{parameter: NAME}` and `{unit_number: u8}`; left out: nothing, or zeros where `data` has a fixed size"),
    .init("arguments", .named("argument", limit: 16), "see below; each of them is sent"),
    .init("reply", name, "the message that answers it; without this key there is no reply"),
    .init("same", names, "elements that must be the same in request and reply: numbers that both framings have"),
    .init("refused_by", names, "messages that refuse it; by default all with `refusal`"),
    .init("write", .flag, "it changes something in the accessory: refused unless [allowed](writes.md)"),
    .init("sets", .other("`{output: \"{to}\"}`, `{state: idle}`"), "with `write: true`: the values that it changes, by name, with an argument in braces, or a value that is always the same. A simulated accessory changes them, so that they are read afterwards, and `bridge-cli set output=on` finds the request by the value's name: the value is typed as it is shown, after `value` of the argument. All values that a request sets must be named", since: "0.3"),
    .init("echoed", .flag, "the request's bytes come back before the reply"),
    .init("optional", .flag, "for a request that not every accessory knows: if an accessory refuses it, it isn't sent automatically again until the accessory is reopened; if it never answers it, it is sent every ten minutes. Readings don't name it as missing"),
    .init("timeout", .milliseconds(1...60_000), "how long its reply may take; otherwise the plan's"),
  ])
  static let argument = KeyTable("argument", "an argument", [
    .init("type", .other("a type of number, or `text`"), "how it is sent; `text`: as decimal digits", missing: "type is missing: a type of number, or text for decimal digits"),
    .init("from", .other("a number"), "the least number"),
    .init("to", .other("a number"), "the greatest number"),
    .init("value", formula, "the value that the number sets", since: "0.3"),
    .init("unit", unit, "the unit of the number"),
    .init("default", .other("a number, or a word"), "what is sent if nobody says anything else"),
    .init("words", .other("`{1: on, 0: off}`, `{1: [on, start]}`"), "what a user types for a number"),
  ])

  static let plan = KeyTable("plan", "plan", [
    .init("identify", .shared("identify", "`{request: R, expect: {field: value}}`"), "the request that identifies the accessory; with several, `{request: [R, S]}`, the first that is answered. The others, if `optional`, are then not sent automatically"),
    .init("poll", .oneOrMore("poll", limit: 32), "the requests of a reading: `[{requests: [basic], every: 10s}]`; without `every` only when a client asks. A request for the identity that is in no poll is made once"),
    .init("gap", .milliseconds(0...60_000), "time between a reply and the next request", usual: "`0s`"),
    .init("timeout", .milliseconds(1...60_000), "how long a reply may take", usual: "`500ms`"),
    .init("tries", .integer(1...20), "how often a request is made until it is answered", usual: "`3`"),
    .init("retry_gap", .milliseconds(0...60_000), "time until a request is repeated", usual: "`0s`"),
    .init("retry_refused", .flag, "the first request is repeated if it is refused, because half a command may have been in the accessory's buffer", usual: "`false`"),
    .init("wake", .shared("wake", "`{send: 0D, wait: 100ms}`"), "sent before everything else"),
    .init("start", .other("a list, see below"), "steps that are done once after opening, before `identify`, in this order"),
    .init("expiry", .milliseconds(100...86_400_000), "the time after which pushed values are out of date", usual: "three times their usual period, and at least `10s`"),
    .init("round", name, "the value with which the accessory begins each round of pushed messages, if it sends several different ones in turn", since: "0.3"),
  ])
  static let startStep = KeyTable("start_step", "a step of start", [
    .init("request", name, "a request that is made"),
    .init("expect", .shared("expectations", "values by name"), "what its answer must say"),
    .init("baud", .whole(1...100_000_000), "from now on the line has this rate"),
    .init("wait", .milliseconds(1...60_000), "nothing for so long"),
  ])
  static let identify = KeyTable("identify", "identify", [
    .init("request", names, "the request that identifies the accessory", missing: "request is missing: the request that identifies the accessory"),
    .init("expect", .shared("expectations", "values by name"), "what its answer must say"),
  ])
  static let poll = KeyTable("poll", "a poll", place: "plan: poll", [
    .init("requests", names, "what is asked together", missing: "requests are missing: {requests: [basic], every: 10s}"),
    .init("every", .milliseconds(100...86_400_000), "how often"),
  ])
  static let wake = KeyTable("wake", "wake", place: "plan: wake", lacks: { _ in "wake needs the bytes to send, and the time to wait after them: {send: 0D, wait: 100ms}" }, [
    .init("send", .bytes(limit: 64), "what is sent before everything else", missing: ""),
    .init("wait", .milliseconds(0...60_000), "the pause after it", missing: ""),
  ])

  static let example = KeyTable("example", "an example", [
    .init("request", .other("a name, or `{values: {mask: 3}}`"), "the request; with arguments, as numbers that are sent, or their words"),
    .init("unit_number", .other("a unit"), "the unit that is asked, where it isn't the `default`", since: "0.3"),
    .init("sent", .bytes(limit: ProtocolDescription.Limit.frame), "bytes that the request must send"),
    // A reply of several frames may be longer than one frame.
    .init("received", .bytes(limit: 4 * ProtocolDescription.Limit.frame), "the bytes of the accessory: all frames of a reply, or pushed ones"),
    .init("given", .other("`{cell_count: 14}`"), "whole numbers from earlier messages"),
    .init("parameters", .other("`{battery_empty: 21}`"), "numbers that the user gives"),
    .init("expect", .shared("expectations", "`{battery.cells: [3.942, 3.939]}`"), "the expected values; `unknown` for a value that must be unknown or missing"),
    .init("refused", .flag, "the received bytes are damaged, a refusal or [not plausible](#plausible), and nothing is read from them"),
    .init("write", .flag, "the sent bytes change something, and are refused unless [allowed](writes.md); without a request these are bytes that no request of this file sends"),
  ])
}
