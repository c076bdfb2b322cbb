// SPDX-License-Identifier: Apache-2.0

extension BuiltInDescriptions {
  /// Energy meters of Eastron, with Modbus.
  static let sdm120 = #"""
    protocol: sdm120
    version: 1
    description: Eastron SDM120 and SDM230 energy meters at RS-485
    # Registers set its address and its baud rate.
    raw: guarded
    # As delivered; many are set to 9600.
    line: {baud: 2400}
    # They answer for up to 80 registers, with zeros for those that they don't have.
    modbus: {unit: 1, longest: 80, across: 4}

    registers:
      voltage:
        summary: Voltage
        function: 4
        fields:
          - {at: 0x0000, name: voltage, type: f32, unit: V, role: input.voltage}
      line:
        summary: Current, power, power factor
        function: 4
        fields:
          - {at: 0x0006, name: current, type: f32, unit: A}
          - {at: 0x000C, name: power, type: f32, unit: W}
          - {at: 0x0012, name: apparent_power, type: f32, unit: VA, role: ups.power}
          - {at: 0x0018, name: reactive_power, type: f32, unit: var}
          - {at: 0x001E, name: power_factor, type: f32}
      energy:
        summary: Frequency, and energy each way
        function: 4
        fields:
          - {at: 0x0046, name: frequency, type: f32, unit: Hz, role: input.frequency}
          - {at: 0x0048, name: energy_imported, type: f32, unit: kWh}
          - {at: 0x004A, name: energy_exported, type: f32, unit: kWh}
      total_energy:
        summary: Energy both ways together
        function: 4
        fields:
          - {at: 0x0156, name: energy, type: f32, unit: kWh}
      unit_number:
        summary: The meter's own number on the line
        function: 3
        fields:
          - {at: 0x0014, name: unit_number, type: f32}
      rate:
        summary: The number of the line's rate
        function: 3
        fields:
          - {at: 0x001C, name: rate, type: f32}
      serial:
        summary: The serial number
        function: 3
        fields:
          - {at: 0xFC00, name: identity.serial, type: u32}

    plan:
      identify: {request: voltage}
      poll:
        - {requests: [voltage, line], every: 10s}
        - {requests: [energy, total_energy], every: 60s}
      # Before its answer it needs up to 150 ms.
      timeout: 500ms
      gap: 20ms

    examples:
      - request: voltage
        sent: 01 04 00 00 00 02 71 CB
        received: 01 04 04 43 66 33 34 1B 38
        expect: {voltage: 230.20001}
      # These are worked out, not recorded.
      - request: line
        sent: 01 04 00 06 00 1A 91 C0
        received:
          01 04 34 3FA00000 00000000 00000000 438DC000 00000000 00000000 438FE666 00000000 00000000 C245999A 00000000
          00000000 3F7C28F6 9794
        expect: {current: 1.25, power: 283.5, apparent_power: 287.8, reactive_power: -49.4, power_factor: 0.985}
      - request: energy
        sent: 01 04 00 46 00 06 91 DD
        received: 01 04 0C 4248147B 449A51EC 40F00000 F233
        expect: {frequency: 50.02, energy_imported: 1234.56, energy_exported: 7.5}
      - {request: total_energy, sent: 01 04 01 56 00 02 90 27, received: 01 04 04 449B41EC AF46, expect: {energy: 1242.06}}
      - {request: serial, sent: 01 03 FC 00 00 02 F4 5B, received: 01 03 04 01312D00 B750, expect: {identity.serial: 20000000}}
      - {request: unit_number, received: 01 03 04 3F 80 00 00 F7 CF, expect: {unit_number: 1}}
      # It has no such registers.
      - {request: voltage, received: 01 84 04 42 C3, refused: true}
      # The manual prints these, with checks that are wrong.
      - {received: 01 03 00 00 00 14 C4 0B, refused: true}
      - {received: 01 10 00 14 00 02 04 42 70 00 00 67 D5, refused: true}
      - {received: 01 10 00 14 00 02 E0 08, refused: true}
    """#
}
