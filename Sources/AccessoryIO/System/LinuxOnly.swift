// SPDX-License-Identifier: Apache-2.0

#if !os(Linux)
  #error("AccessoryIO needs Linux: epoll, termios2 and usbfs. AccessoryCore and AccessoryProtocols don't.")
#endif
