// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import TestSupport

extension Program {
  /// Whether no timer runs that would wake the program, its own or a library's.
  var runsNoTimers: Bool {
    let folder = "/proc/\(pid)/fdinfo/"
    let timers = Directory.names(in: folder).compactMap { name in
      let bytes = try? SmallFile.read(folder + name, limit: 4_096)
      return bytes.map { String(decoding: $0, as: UTF8.self) }.flatMap { $0.contains("it_value") ? $0 : nil }
    }
    return !timers.isEmpty && timers.allSatisfy { $0.contains("it_value: (0, 0)") }
  }
}
