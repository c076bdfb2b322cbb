// SPDX-License-Identifier: Apache-2.0

/// The names of services, characteristics and descriptors in the descriptions of UUIDs: those of the Bluetooth SIG's assigned
/// numbers for which Apple's framework shows a name, in its words. It shows digits for all others, such as 2A37.
enum AssignedNames {
  /// The name for a UUID's shortest form in upper case; nil for none.
  static func name(of digits: String) -> String? { names[digits] }

  private static let names: [String: String] = {
    var names: [String: String] = [:]
    for line in table.split(separator: "\n") {
      guard let blank = line.firstIndex(of: " ") else { continue }
      names[String(line[..<blank])] = String(line[line.index(after: blank)...])
    }
    return names
  }()

  private static let table = """
    1800 Generic Access Profile
    1801 Generic Attribute Profile
    1805 Current Time
    1808 Glucose
    1809 Health Thermometer
    180A Device Information
    180D Heart Rate
    180F Battery
    1810 Blood Pressure
    1812 Human Interface Device
    1814 Running Speed and Cadence
    1816 Cycling Speed and Cadence
    1818 Cycling Power
    181B Body Composition
    181C User Data
    181D Weight Scale
    181E Bond Management
    181F Continuous Glucose Monitoring
    1822 Pulse Oximeter
    183A Insulin Delivery
    183E Physical Activity Monitor
    183F Elapsed Time
    1840 Generic Health Sensor
    184E Audio Stream Control Service
    1850 Published Audio Capabilities Service
    1853 Common Audio Service
    2900 Characteristic Extended Properties
    2901 Characteristic User Description
    2902 Client Characteristic Configuration
    2903 Server Characteristic Configuration
    2904 Characteristic Format
    2905 Characteristic Aggregate Format
    2908 Report Reference
    2A00 Device Name
    2A01 Appearence
    2A02 Peripheral Privacy Flag
    2A03 Reconnection Address
    2A04 Peripheral Preferred Connection Parameters
    2A05 Service Changed
    2A0F Local Time Information
    2A19 Battery Level
    2A1A Battery Power State
    2A22 Boot Keyboard Input Report
    2A23 System ID
    2A24 Model Number String
    2A25 Serial Number String
    2A26 Firmware Revision String
    2A27 Hardware Revision String
    2A28 Software Revision String
    2A29 Manufacturer Name String
    2A2A IEEE Regulatory Certification
    2A2B Current Time
    2A32 Boot Keyboard Output Report
    2A33 Boot Mouse Input Report
    2A4A HID Information
    2A4B Report Map
    2A4C HID Control Point
    2A4D Report
    2A4E Protocol Mode
    2A50 PnP ID
    2A52 RACP
    2A99 Database Change Increment
    2A9A User Index
    2A9F User Control Point
    03B80E5A-EDE8-4B33-A751-6CE34EC4C700 BLE MIDI
    """
}
