// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

// The limits of the service's replies. Devices and readings are within theirs when they have been decoded.

// MARK: - Accessories

extension Bridge.Accessory: CheckedReply {
  package func check() throws(ReplyNumberError) {
    try ReplyLimits.check(counts: ["tries": tries, "tries_limit": tries_limit, "next_try_ms": next_try_ms])
    try ReplyLimits.check(readings_age_ms, ReplyLimits.count, "readings_age_ms")
    try ReplyLimits.check(fresh_ms, ReplyLimits.count, "fresh_ms")
    try ReplyLimits.check(low_percent, LowLimit.percents, "low_percent")
    try ReplyLimits.check(low_time_s, LowLimit.times, "low_time_s")
    try ReplyLimits.check(count: alarms)
    try UnfitAlarm.check(unfit_alarms ?? [])
    try ReplyLimits.check(connected_since, ReplyLimits.seconds, "connected_since")
    try ReplyLimits.check(last_seen, ReplyLimits.seconds, "last_seen")
    try last?.values?.check()
  }
}

extension Bridge.Line: CheckedReply {
  package func check() throws(ReplyNumberError) {
    try ReplyLimits.check(data_bits, ReplyLimits.bits, "data_bits")
    try ReplyLimits.check(stop_bits, ReplyLimits.bits, "stop_bits")
    try ReplyLimits.check(latency_timer_ms, ReplyLimits.count, "latency_timer_ms")
  }
}

extension Bridge.Open.Reply: CheckedReply {
  package func check() throws(ReplyNumberError) {
    try line?.check()
  }
}

extension Bridge.GetService.Reply: CheckedReply {
  package func check() throws(ReplyNumberError) {
    try ReplyLimits.check(started, ReplyLimits.seconds, "started")
    try ReplyLimits.check(counts: [
      "process": process, "uptime_ms": uptime_ms, "accessories": accessories, "attached": attached,
      "clients": clients, "limits.accessories": limits.accessories, "limits.attached": limits.attached,
      "limits.clients": limits.clients, "limits.clients_of_one_user": limits.clients_of_one_user,
    ])
  }
}

extension Bridge.List.Reply: CheckedReply {
  package func check() throws(ReplyNumberError) { for accessory in accessories { try accessory.check() } }
}

extension Bridge.Attach.Reply: CheckedReply {
  package func check() throws(ReplyNumberError) { try accessory.check() }
}

extension Bridge.GetInfo.Reply: CheckedReply {
  package func check() throws(ReplyNumberError) {
    try accessory.check()
    try line?.check()
  }
}

// MARK: - Readings and events

extension Bridge.Event: CheckedReply {
  package func check() throws(ReplyNumberError) {
    try ReplyLimits.check(time, ReplyLimits.seconds, "time")
    try values?.check()
    try ReplyLimits.check(readings_age_ms, ReplyLimits.count, "readings_age_ms")
    try ReplyLimits.check(fresh_ms, ReplyLimits.count, "fresh_ms")
  }
}

extension Bridge.TracePiece: CheckedReply {
  /// The greatest number of bytes in a piece. It exceeds what a transport passes at once.
  package static let longest = 1 << 18

  package func check() throws(ReplyNumberError) {
    try ReplyLimits.check(time, ReplyLimits.seconds, "time")
    try ReplyLimits.check(lost_bytes, ReplyLimits.count, "lost_bytes")
    try ReplyLimits.check(bytes_hex.utf8.count, 0...(2 * Self.longest), "the length of bytes_hex")
  }
}

// MARK: - Commands

extension Bridge.Request.Reply: CheckedReply {
  package func check() throws(ReplyNumberError) {
    try ReplyLimits.check(reply.payload_bytes, ReplyLimits.count, "payload_bytes")
  }
}

// MARK: - Files

extension Bridge.GetFile.Reply: CheckedReply {
  package func check() throws(ReplyNumberError) {
    try ReplyLimits.check(counts: ["size_bytes": size_bytes, "offset": offset, "resumptions": resumptions])
  }
}

extension Bridge.SendFile.Reply: CheckedReply {
  package func check() throws(ReplyNumberError) {
    try ReplyLimits.check(counts: [
      "offset": offset, "count_bytes": count_bytes, "done_bytes": done_bytes, "resumptions": resumptions,
    ])
  }
}
