// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import CLinuxShims
import Glibc
import SystemPackage

// Settings that only some serial drivers support; other drivers fail with ENOTTY or EINVAL.

extension FileDescriptor {
  /// The driver's flags; nil when the driver doesn't support them.
  private var serial: serial_struct? { try? SystemCall.ioctl(TerminalRequest.GetSerial(), on: self) }

  /// Whether the driver delivers received bytes at once; nil when it doesn't report that.
  var isLowLatency: Bool? { serial.map { $0.flags & SHIM_LOW_LATENCY != 0 } }

  /// Turns low latency on or off. Returns whether the driver accepted that.
  func setLowLatency(_ isOn: Bool) -> Bool {
    guard var serial else { return false }
    serial.flags = isOn ? serial.flags | SHIM_LOW_LATENCY : serial.flags & ~SHIM_LOW_LATENCY
    return (try? SystemCall.ioctl(TerminalRequest.SetSerial(serial: serial), on: self)) != nil
  }

  /// The RS-485 settings; nil when they are off or not supported.
  var rs485: TerminalConfiguration.RS485? {
    guard let raw = rawRS485, raw.flags & SHIM_RS485_ENABLED != 0 else { return nil }
    return TerminalConfiguration.RS485(raw)
  }

  /// The RS-485 settings in the kernel's form, for restoring them later; nil when the driver doesn't support them.
  var rawRS485: serial_rs485? { try? SystemCall.ioctl(TerminalRequest.GetRS485(), on: self) }

  func set(_ rs485: serial_rs485) throws(Errno) {
    try SystemCall.ioctl(TerminalRequest.SetRS485(settings: rs485), on: self)
  }
}

extension TerminalConfiguration.RS485 {
  init(_ raw: serial_rs485) {
    rtsOnSend = raw.flags & SHIM_RS485_RTS_ON_SEND != 0
    rtsAfterSend = raw.flags & SHIM_RS485_RTS_AFTER_SEND != 0
    receivesWhileSending = raw.flags & SHIM_RS485_RX_DURING_TX != 0
    delayBeforeSend = .milliseconds(raw.delay_rts_before_send)
    delayAfterSend = .milliseconds(raw.delay_rts_after_send)
  }

  var raw: serial_rs485 {
    var raw = serial_rs485()
    raw.flags =
      SHIM_RS485_ENABLED | (rtsOnSend ? SHIM_RS485_RTS_ON_SEND : 0) | (rtsAfterSend ? SHIM_RS485_RTS_AFTER_SEND : 0)
      | (receivesWhileSending ? SHIM_RS485_RX_DURING_TX : 0)
    raw.delay_rts_before_send = UInt32(clamping: delayBeforeSend.inMilliseconds)
    raw.delay_rts_after_send = UInt32(clamping: delayAfterSend.inMilliseconds)
    return raw
  }
}
