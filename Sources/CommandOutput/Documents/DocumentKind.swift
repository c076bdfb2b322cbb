// SPDX-License-Identifier: Apache-2.0

/// The kinds of documents that commands print with `--json`: the value of the field `document`, by which programs and the
/// JSON Schema tell them apart.
package enum DocumentKind: String, Encodable, Sendable, CaseIterable {
  case accessoryEvent = "accessory_event"
  case alarmEvent = "alarm_event"
  case attached
  case battery
  case batteryList = "battery_list"
  case bluetoothFound = "bluetooth_found"
  case bluetoothScan = "bluetooth_scan"
  case bridgeEvent = "bridge_event"
  case commandList = "command_list"
  case connectionEvent = "connection_event"
  case consoleEvent = "console_event"
  case detached
  case deviceEvent = "device_event"
  case deviceList = "device_list"
  case doctor
  case driverList = "driver_list"
  case dryRun = "dry_run"
  case error
  case fleetList = "fleet_list"
  case folder
  case folderChange = "folder_change"
  case forgotten
  case history
  case identification
  case information
  case key
  case lineReset = "line_reset"
  case log
  case messageTest = "message_test"
  case metrics
  case named
  case profile
  case profileCheck = "profile_check"
  case profileList = "profile_list"
  case profileProposal = "profile_proposal"
  case progress
  case remote
  case replayEvent = "replay_event"
  case replies
  case request
  case scanEnded = "scan_ended"
  case scanFound = "scan_found"
  case service
  case serving
  case setup
  case setupUndone = "setup_undone"
  case simulatorEvent = "simulator_event"
  case simulatorList = "simulator_list"
  case status
  case trace
  case transfer
  case udevRules = "udev_rules"
  case values
  case version
}
