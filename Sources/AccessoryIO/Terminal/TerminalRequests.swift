// SPDX-License-Identifier: Apache-2.0

import CLinuxShims
import Glibc

/// What is asked of a terminal's driver: TIOCMGET(2const), TIOCEXCL(2const) and the other pages of ioctl_tty(2).
package enum TerminalRequest {
  // MARK: - Settings

  /// TCGETS2: the settings of the line. `ENOTTY` where it is no terminal.
  package struct GetSettings: Ioctl {
    package init() {}
    package func call(on descriptor: CInt) -> (result: CInt, reply: shim_termios2) {
      var settings = shim_termios2()
      return (shim_tcgets2(descriptor, &settings), settings)
    }
  }

  /// TCSETS2: the settings from now on, without waiting for output.
  package struct SetSettings: Ioctl {
    package var settings: shim_termios2

    package func call(on descriptor: CInt) -> (result: CInt, reply: Void) {
      withUnsafePointer(to: settings) { (shim_tcsets2(descriptor, $0), ()) }
    }
  }

  // MARK: - Exclusive mode

  /// TIOCGEXCL: whether nobody else but root may open it.
  package struct IsExclusive: Ioctl {
    package init() {}
    package func call(on descriptor: CInt) -> (result: CInt, reply: Bool) {
      var exclusive: CInt = 0
      let result = shim_tiocgexcl(descriptor, &exclusive)
      return (result, exclusive != 0)
    }
  }

  /// TIOCEXCL or TIOCNXCL: from now on nobody else but root may open it, or everybody may.
  package struct SetExclusive: Ioctl {
    package var isExclusive: Bool

    package func call(on descriptor: CInt) -> (result: CInt, reply: Void) {
      (isExclusive ? shim_tiocexcl(descriptor) : shim_tiocnxcl(descriptor), ())
    }
  }

  // MARK: - Bytes

  /// TCFLSH: throws away what wasn't read (`TCIFLUSH`), what wasn't sent (`TCOFLUSH`), or both (`TCIOFLUSH`).
  package struct Flush: Ioctl {
    package var queue: CInt

    package func call(on descriptor: CInt) -> (result: CInt, reply: Void) { (shim_tcflush(descriptor, queue), ()) }
  }

  /// TIOCOUTQ: how many bytes wait in the driver to be sent.
  package struct GetOutputCount: Ioctl {
    package init() {}
    package func call(on descriptor: CInt) -> (result: CInt, reply: CInt) {
      var count: CInt = 0
      return (shim_tiocoutq(descriptor, &count), count)
    }
  }

  // MARK: - Modem lines

  /// TIOCMGET: the modem lines. `ENOTTY` or `EINVAL` where there are none.
  package struct GetModemLines: Ioctl {
    package init() {}
    package func call(on descriptor: CInt) -> (result: CInt, reply: ModemLines) {
      var lines: CInt = 0
      let result = shim_tiocmget(descriptor, &lines)
      return (result, ModemLines(rawValue: lines))
    }
  }

  /// TIOCMBIS, TIOCMBIC or TIOCMSET: raises these lines, lowers them, or raises them and lowers all others.
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

  /// TIOCSBRK or TIOCCBRK: begins a break, or ends it.
  package struct SetBreak: Ioctl {
    package var isOn: Bool

    package func call(on descriptor: CInt) -> (result: CInt, reply: Void) {
      (isOn ? shim_tiocsbrk(descriptor) : shim_tioccbrk(descriptor), ())
    }
  }

  // MARK: - What only some drivers know

  /// TIOCGSERIAL: the driver's flags, low latency among them.
  package struct GetSerial: Ioctl {
    package init() {}
    package func call(on descriptor: CInt) -> (result: CInt, reply: serial_struct) {
      var serial = serial_struct()
      return (shim_tiocgserial(descriptor, &serial), serial)
    }
  }

  /// TIOCSSERIAL: the driver's flags from now on.
  package struct SetSerial: Ioctl {
    package var serial: serial_struct

    package func call(on descriptor: CInt) -> (result: CInt, reply: Void) {
      withUnsafePointer(to: serial) { (shim_tiocsserial(descriptor, $0), ()) }
    }
  }

  /// TIOCGRS485: how the driver turns an RS-485 line round.
  package struct GetRS485: Ioctl {
    package init() {}
    package func call(on descriptor: CInt) -> (result: CInt, reply: serial_rs485) {
      var settings = serial_rs485()
      return (shim_tiocgrs485(descriptor, &settings), settings)
    }
  }

  /// TIOCSRS485: how it does from now on.
  package struct SetRS485: Ioctl {
    package var settings: serial_rs485

    package func call(on descriptor: CInt) -> (result: CInt, reply: Void) {
      withUnsafePointer(to: settings) { (shim_tiocsrs485(descriptor, $0), ()) }
    }
  }

  // MARK: - Pseudo-terminals

  /// TIOCSPTLCK: locks the terminal of a pseudo-terminal, or lets others open it.
  package struct SetLock: Ioctl {
    package var isLocked: Bool

    package func call(on descriptor: CInt) -> (result: CInt, reply: Void) {
      (shim_tiocsptlck(descriptor, isLocked ? 1 : 0), ())
    }
  }

  /// TIOCGPTN: the number of a pseudo-terminal, N of /dev/pts/N.
  package struct GetNumber: Ioctl {
    package init() {}
    package func call(on descriptor: CInt) -> (result: CInt, reply: CUnsignedInt) {
      var number: CUnsignedInt = 0
      return (shim_tiocgptn(descriptor, &number), number)
    }
  }
}
