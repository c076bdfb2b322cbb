// SPDX-License-Identifier: Apache-2.0

import CLinuxShims
import Glibc

/// The ioctl requests to a terminal's driver; see TIOCMGET(2const), TIOCEXCL(2const) and the other pages of
/// ioctl_tty(2).
package enum TerminalRequest {
  // MARK: - Settings

  /// TCGETS2: reads the settings of the line. Fails with `ENOTTY` when the descriptor isn't a terminal.
  package struct GetSettings: Ioctl {
    package init() {}
    package func call(on descriptor: CInt) -> (result: CInt, reply: shim_termios2) {
      var settings = shim_termios2()
      return (shim_tcgets2(descriptor, &settings), settings)
    }
  }

  /// TCSETS2: changes the settings, without waiting for output.
  package struct SetSettings: Ioctl {
    package var settings: shim_termios2

    package func call(on descriptor: CInt) -> (result: CInt, reply: Void) {
      withUnsafePointer(to: settings) { (shim_tcsets2(descriptor, $0), ()) }
    }
  }

  // MARK: - Exclusive mode

  /// TIOCGEXCL: reads whether only root may open the terminal again.
  package struct IsExclusive: Ioctl {
    package init() {}
    package func call(on descriptor: CInt) -> (result: CInt, reply: Bool) {
      var exclusive: CInt = 0
      let result = shim_tiocgexcl(descriptor, &exclusive)
      return (result, exclusive != 0)
    }
  }

  /// TIOCEXCL or TIOCNXCL: lets only root open the terminal again, or everybody.
  package struct SetExclusive: Ioctl {
    package var isExclusive: Bool

    package func call(on descriptor: CInt) -> (result: CInt, reply: Void) {
      (isExclusive ? shim_tiocexcl(descriptor) : shim_tiocnxcl(descriptor), ())
    }
  }

  // MARK: - Bytes

  /// TCFLSH: discards bytes that weren't read (`TCIFLUSH`), bytes that weren't sent (`TCOFLUSH`), or both
  /// (`TCIOFLUSH`).
  package struct Flush: Ioctl {
    package var queue: CInt

    package func call(on descriptor: CInt) -> (result: CInt, reply: Void) { (shim_tcflush(descriptor, queue), ()) }
  }

  /// TIOCOUTQ: reads the number of bytes that wait in the driver to be sent.
  package struct GetOutputCount: Ioctl {
    package init() {}
    package func call(on descriptor: CInt) -> (result: CInt, reply: CInt) {
      var count: CInt = 0
      return (shim_tiocoutq(descriptor, &count), count)
    }
  }

  /// TIOCGICOUNT: reads the driver's counters of errors and breaks. Fails with `ENOTTY` or `EINVAL` when the driver has
  /// none.
  package struct GetCounters: Ioctl {
    package init() {}
    package func call(on descriptor: CInt) -> (result: CInt, reply: serial_icounter_struct) {
      var counters = serial_icounter_struct()
      return (shim_tiocgicount(descriptor, &counters), counters)
    }
  }

  // MARK: - Modem lines

  /// TIOCMGET: reads the modem lines. Fails with `ENOTTY` or `EINVAL` when the device has none.
  package struct GetModemLines: Ioctl {
    package init() {}
    package func call(on descriptor: CInt) -> (result: CInt, reply: ModemLines) {
      var lines: CInt = 0
      let result = shim_tiocmget(descriptor, &lines)
      return (result, ModemLines(rawValue: lines))
    }
  }

  /// TIOCMBIS, TIOCMBIC or TIOCMSET: raises `lines`, lowers them, or raises them and lowers all others.
  package struct SetModemLines: Ioctl {
    package enum Change: Sendable, Hashable { case raise, lower, replace }
    package var lines: ModemLines
    package var change: Change

    package func call(on descriptor: CInt) -> (result: CInt, reply: Void) {
      switch change {
      case .raise: (shim_tiocmbis(descriptor, lines.rawValue), ())
      case .lower: (shim_tiocmbic(descriptor, lines.rawValue), ())
      case .replace: (shim_tiocmset(descriptor, lines.rawValue), ())
      }
    }
  }

  /// TIOCSBRK or TIOCCBRK: begins or ends a break.
  package struct SetBreak: Ioctl {
    package var isOn: Bool

    package func call(on descriptor: CInt) -> (result: CInt, reply: Void) {
      (isOn ? shim_tiocsbrk(descriptor) : shim_tioccbrk(descriptor), ())
    }
  }

  // MARK: - Requests that only some drivers support

  /// TIOCGSERIAL: reads the driver's flags, which include low latency.
  package struct GetSerial: Ioctl {
    package init() {}
    package func call(on descriptor: CInt) -> (result: CInt, reply: serial_struct) {
      var serial = serial_struct()
      return (shim_tiocgserial(descriptor, &serial), serial)
    }
  }

  /// TIOCSSERIAL: changes the driver's flags.
  package struct SetSerial: Ioctl {
    package var serial: serial_struct

    package func call(on descriptor: CInt) -> (result: CInt, reply: Void) {
      withUnsafePointer(to: serial) { (shim_tiocsserial(descriptor, $0), ()) }
    }
  }

  /// TIOCGRS485: reads the settings of RS-485 direction control.
  package struct GetRS485: Ioctl {
    package init() {}
    package func call(on descriptor: CInt) -> (result: CInt, reply: serial_rs485) {
      var settings = serial_rs485()
      return (shim_tiocgrs485(descriptor, &settings), settings)
    }
  }

  /// TIOCSRS485: changes the settings of RS-485 direction control.
  package struct SetRS485: Ioctl {
    package var settings: serial_rs485

    package func call(on descriptor: CInt) -> (result: CInt, reply: Void) {
      withUnsafePointer(to: settings) { (shim_tiocsrs485(descriptor, $0), ()) }
    }
  }

  // MARK: - Pseudo-terminals

  /// TIOCSPTLCK: locks the slave end of a pseudo-terminal, or unlocks it so that programs can open it.
  package struct SetLock: Ioctl {
    package var isLocked: Bool

    package func call(on descriptor: CInt) -> (result: CInt, reply: Void) {
      (shim_tiocsptlck(descriptor, isLocked ? 1 : 0), ())
    }
  }

  /// TIOCGPTN: reads the number of a pseudo-terminal, the N in /dev/pts/N.
  package struct GetNumber: Ioctl {
    package init() {}
    package func call(on descriptor: CInt) -> (result: CInt, reply: CUnsignedInt) {
      var number: CUnsignedInt = 0
      return (shim_tiocgptn(descriptor, &number), number)
    }
  }
}
