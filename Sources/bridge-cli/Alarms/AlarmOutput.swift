// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import CommandOutput

/// Alarms of commands that keep running.
enum AlarmOutput {
  /// Prints that an alarm was raised or cleared.
  static func show(_ device: Device, _ alarm: AccessoryAlarm, _ state: AlarmChange, json: Bool) {
    if json { return Output.json(AlarmEventDocument(DeviceDocument(device), alarm, state)) }
    Output.wrapped(AlarmView.line(state, alarm, device), indent: 10)
  }
}
