// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO

// The service's accessories and their events.

extension Bridge {
  package struct Line: Codable, Sendable, Hashable {
    package var baud: UInt32
    package var data_bits, stop_bits: Int
    package var parity, flow_control: String
    package var lowers_lines_on_close: Bool
    package var modem_lines: [String: Bool]?
    package var low_latency, rs485, rs485_rts_on_send: Bool?
    package var rs485_delay_before_ms, rs485_delay_after_ms: UInt32?
    package var latency_timer_ms: Int?
    package var rs485_rts_after_send, rs485_receives_while_sending: Bool?

    package init(
      baud: UInt32, data_bits: Int, stop_bits: Int, parity: String, flow_control: String, lowers_lines_on_close: Bool,
      modem_lines: [String: Bool]? = nil, low_latency: Bool? = nil, rs485: Bool? = nil, latency_timer_ms: Int? = nil
    ) {
      self.baud = baud
      self.data_bits = data_bits
      self.stop_bits = stop_bits
      self.parity = parity
      self.flow_control = flow_control
      self.lowers_lines_on_close = lowers_lines_on_close
      self.modem_lines = modem_lines
      self.low_latency = low_latency
      self.rs485 = rs485
      self.latency_timer_ms = latency_timer_ms
    }
  }

  package struct Problem: Codable, Sendable, Hashable {
    package var kind, message: String

    package init(_ error: AccessoryError) { (kind, message) = (error.kind.errorName, error.message) }
  }

  /// The state of an accessory's attachment.
  package enum AttachmentState: String, Codable, Sendable, Hashable, CaseIterable {
    case opening, attached, lent, waiting, failed
  }

  /// Whether commands that change something in an accessory, and raw bytes that may, are allowed.
  package enum Writes: String, Codable, Sendable, Hashable, CaseIterable {
    case allowed, refused
  }

  package struct Accessory: Codable, Sendable, Hashable {
    package var device: Device
    package var state: AttachmentState
    package var tries: Int
    package var holder: String?
    package var problem: Problem?
    package var profile, driver: String?
    package var protocols: [String]?
    package var readings_age_ms: Int?
    package var stale: Bool?
    /// The time until the readings become stale unless they are renewed; nil where they are stale or never become it,
    /// and from an older service.
    package var fresh_ms: Int?
    package var writes: Writes?
    package var tries_limit, next_try_ms: Int?
    /// The raised alarms; nil from a service that is too old for alarms.
    package var alarms: [AccessoryAlarm]?
    /// The rules that can't be compared with what the accessory reports; left out where there are none.
    package var unfit_alarms: [UnfitAlarm]?
    /// What it doesn't answer or refuses, as in `ReadingsAge`; also where nothing was read.
    package var missing: String?
    /// From where on the owner wants the battery to count as low, in percent and in seconds; nil where the profile doesn't say.
    package var low_percent, low_time_s: Int?
    /// Its name in calls; see `Device.key`. Nil where only its path is known, and from an older service.
    package var key: String?
    /// Whether it was attached, is gone, and isn't waited for any more. Its state is `failed` then.
    package var absent: Bool?
    /// When it was connected, and when it was last there; of the two only what is so. In seconds since 1970, UTC.
    package var connected_since, last_seen: Double?
    /// What was read last of an accessory that can't be reached.
    package var last: LastReadings?

    /// The owner's limit.
    package var lowLimit: LowLimit? {
      get { LowLimit(percent: low_percent, seconds: low_time_s) }
      set { (low_percent, low_time_s) = (newValue?.percent, newValue?.seconds) }
    }

    package init(
      device: Device, state: AttachmentState, tries: Int = 0, holder: String? = nil, problem: Problem? = nil,
      profile: String? = nil, driver: String? = nil, protocols: [String]? = nil
    ) {
      self.device = device
      self.state = state
      self.tries = tries
      self.holder = holder
      self.problem = problem
      self.profile = profile
      self.driver = driver
      self.protocols = protocols
    }

    /// Whether calls can reach the accessory: the service has made contact, or has closed it because it was idle. An
    /// accessory that is waited for has a number of tries, and can't be reached.
    package var isReachable: Bool {
      switch state {
      case .attached, .lent: true
      case .waiting: tries == 0
      case .opening, .failed: false
      }
    }
  }

  /// What was read last of an accessory that is gone.
  package struct LastReadings: Codable, Sendable, Hashable {
    package var battery: BatteryReading?
    package var status: AccessoryStatus?
    package var values: ReadValues?
    package var identity: AccessoryIdentity?

    package init(
      battery: BatteryReading? = nil, status: AccessoryStatus? = nil, values: ReadValues? = nil,
      identity: AccessoryIdentity? = nil
    ) {
      (self.battery, self.status, self.values, self.identity) = (battery, status, values, identity)
    }

    /// An upper bound of its size in a message, in bytes: JSON may need six for a character.
    package var byteLimit: Int {
      let texts = (values ?? []).map { value in
        let text = if case .text(let text) = value.content { text.utf8.count } else { 0 }
        return 256 + 6 * (value.name.utf8.count + text)
      }
      let names = (battery?.faults?.count ?? 0) + (battery?.warnings?.count ?? 0) + (battery?.temperatures.count ?? 0)
      return 8_192 + 16 * (battery?.cellMillivolts.count ?? 0) + 512 * names + texts.reduce(0, +)
    }
  }

  /// The names of the events of `Subscribe`.
  package enum EventName: String, Codable, Sendable, Hashable, CaseIterable {
    case present, ready, connected, disconnected, battery, status
    case requestFailed = "request_failed"
    case values, alarm, found, changed

    /// Whether the event contains a reading.
    package var isReading: Bool { self == .battery || self == .status || self == .values }
  }

  package struct Event: Codable, Sendable, Hashable {
    package var event: EventName
    package var time: Double
    package var device: Device?
    package var battery: BatteryReading?
    package var status: AccessoryStatus?
    package var problem: Problem?
    package var values: [Read<AccessoryValue>]?
    package var alarm: AccessoryAlarm?
    /// Whether the alarm was raised or cleared.
    package var state: AlarmChange?
    /// With a reading: how old the accessory's readings are now; nil from an older service.
    package var readings_age_ms: Int?
    package var stale: Bool?
    package var fresh_ms: Int?
    package var missing: String?

    package init(
      _ event: EventName, time: Double, device: Device? = nil, battery: BatteryReading? = nil,
      status: AccessoryStatus? = nil,
      problem: Problem? = nil, values: [Read<AccessoryValue>]? = nil, alarm: AccessoryAlarm? = nil,
      state: AlarmChange? = nil
    ) {
      (self.alarm, self.state) = (alarm, state)
      self.event = event
      self.time = time
      self.device = device
      self.battery = battery
      self.status = status
      self.problem = problem
      self.values = values
    }
  }

  package struct TracePiece: Codable, Sendable, Hashable {
    package var time: Double
    package var direction: String
    package var bytes_hex: String
    package var lost_bytes: Int?
    package var note: String?

    package init(time: Double, direction: ByteDirection, bytes: [UInt8], lost_bytes: Int? = nil) {
      self.time = time
      self.direction = direction.rawValue
      bytes_hex = Hexadecimal.string(bytes)
      self.lost_bytes = lost_bytes
    }

    /// The bytes; nil when the text isn't hexadecimal.
    package var bytes: [UInt8]? { Hexadecimal.bytes(bytes_hex) }

    /// When the bytes passed, on the kernel's monotonic clock; nil when `time` is out of range.
    package var moment: MonotonicTime? {
      ReplyLimits.seconds.contains(time) ? MonotonicTime(nanoseconds: Int64(time * 1e9)) : nil
    }
  }
}

extension Bridge.Problem {
  /// Converts the problem. `kind` is used where this version doesn't know the service's kind.
  package func error(or kind: AccessoryError.Kind) -> AccessoryError {
    AccessoryError(AccessoryError.Kind.allCases.first { $0.errorName == self.kind } ?? kind, message)
  }
}
