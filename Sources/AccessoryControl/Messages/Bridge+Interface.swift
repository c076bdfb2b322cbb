// SPDX-License-Identifier: Apache-2.0

import CBridgeInterface

extension Bridge {
  /// The interface's definition: the checked-in file, which is built into the program.
  package static let text = String(
    // The pointer is to a constant of the program.
    decoding: UnsafeBufferPointer(start: bridge_interface(), count: bridge_interface_count()), as: UTF8.self)
}
