// SPDX-License-Identifier: Apache-2.0

extension BuiltInDescriptions {
  /// VESC motor controllers. The examples were recorded from two controllers.
  static let vesc = #"""
    protocol: vesc
    version: 1
    description: VESC motor controllers
    # One short frame makes the motor turn.
    raw: guarded
    byte_order: big

    framings:
      frame:
        layout:
          - start: 02
          - length: {type: u8, of: command..data}
          - command: u8
          - data
          - check: {algorithm: crc-16/xmodem, over: command..data}
          - end: 03
        max: 260
      # What has more than 255 bytes.
      long:
        layout:
          - start: 03
          - length: {type: u16, of: command..data}
          - command: u8
          - data
          - check: {algorithm: crc-16/xmodem, over: command..data}
          - end: 03
        max: 518

    messages:
      firmware:
        framing: [frame, long]
        when: {command: 0}
        fields:
          - {name: firmware_major, type: u8}
          - {name: firmware_minor, type: u8}
          - {name: identity.name, type: text0}
          - {name: identity.serial, type: hex, bytes: 12}
      values:
        framing: [frame, long]
        when: {command: 4}
        fields:
          - {name: mosfet_temperature, type: i16, scale: 0.1, unit: °C}
          - {name: motor_temperature, type: i16, scale: 0.1, unit: °C}
          - {name: motor_current, type: i32, scale: 0.01, unit: A}
          - {name: battery.current, type: i32, scale: -0.01, unit: A}
          - {name: direct_current, type: i32, scale: 0.01, unit: A}
          - {name: quadrature_current, type: i32, scale: 0.01, unit: A}
          - {name: duty, type: i16, scale: 0.1, unit: "%"}
          - {name: electrical_speed, type: i32, unit: rpm}
          - {name: battery.voltage, type: i16, scale: 0.1, unit: V}
          - {name: discharged, type: i32, scale: 0.0001, unit: Ah}
          - {name: charged, type: i32, scale: 0.0001, unit: Ah}
          - {name: discharged_energy, type: i32, scale: 0.0001, unit: Wh}
          - {name: charged_energy, type: i32, scale: 0.0001, unit: Wh}
          - {name: tachometer, type: i32}
          - {name: tachometer_absolute, type: i32}
          - name: fault
            type: u8
            words:
              0: none
              1: overvoltage
              2: undervoltage
              3: driver
              4: overcurrent
              5: mosfets-hot
              6: motor-hot
              7: gate-driver-overvoltage
              8: gate-driver-undervoltage
              9: controller-undervoltage
              10: watchdog-reset
              11: encoder-spi
              12: encoder-amplitude-low
              13: encoder-amplitude-high
              14: flash
              15: offset-of-sensor-1
              16: offset-of-sensor-2
              17: offset-of-sensor-3
              18: unbalanced-currents
              19: brake
              20: resolver-loss-of-tracking
              21: resolver-degradation
              22: resolver-loss-of-signal
              23: flash-of-program
              24: flash-of-settings
              25: no-magnet
              26: magnet-too-strong
              27: phase-filter
              28: encoder
              29: low-output-voltage
              30: slip
              31: overspeed
              32: underspeed
          - {name: position, type: i32, scale: 0.000001, unit: °}
          - {name: controller, type: u8}
          # Older firmware says no more than this, or this.
          - tail:
              - {name: mosfet_1_temperature, type: i16, scale: 0.1, unit: °C}
              - {name: mosfet_2_temperature, type: i16, scale: 0.1, unit: °C}
              - {name: mosfet_3_temperature, type: i16, scale: 0.1, unit: °C}
              - tail:
                  - {name: direct_voltage, type: i32, scale: 0.001, unit: V}
                  - {name: quadrature_voltage, type: i32, scale: 0.001, unit: V}
                  - tail:
                      - {name: controller_status, type: u8, flags: {0: timed-out, 1: kill-switch}}
      # Of all controllers together; the battery's charge is right if they were told of the battery.
      setup:
        framing: [frame, long]
        when: {command: 47}
        fields:
          - {name: mosfet_temperature, type: i16, scale: 0.1, unit: °C}
          - {name: motor_temperature, type: i16, scale: 0.1, unit: °C}
          - {name: motor_current, type: i32, scale: 0.01, unit: A}
          - {name: battery.current, type: i32, scale: -0.01, unit: A}
          - {name: duty, type: i16, scale: 0.1, unit: "%"}
          - {name: electrical_speed, type: i32, unit: rpm}
          - {name: speed, type: i32, scale: 0.001, unit: m/s}
          - {name: battery.voltage, type: i16, scale: 0.1, unit: V}
          - {name: battery.percent, type: i16, scale: 0.1, unit: "%"}
          - {name: discharged, type: i32, scale: 0.0001, unit: Ah}
          - {name: charged, type: i32, scale: 0.0001, unit: Ah}
          - {name: discharged_energy, type: i32, scale: 0.0001, unit: Wh}
          - {name: charged_energy, type: i32, scale: 0.0001, unit: Wh}
          - {name: distance, type: i32, scale: 0.001, unit: m}
          - {name: distance_absolute, type: i32, scale: 0.001, unit: m}
      # The same of all controllers: of its mask these bits are known.
      selected_setup:
        framing: [frame, long]
        when: {command: 51}
        fields:
          - {name: asked_mosfet, type: u32, bits: 0, stay: true, hidden: true}
          - {name: asked_motor, type: u32, bits: 1, stay: true, hidden: true}
          - {name: asked_motor_current, type: u32, bits: 2, stay: true, hidden: true}
          - {name: asked_current, type: u32, bits: 3, stay: true, hidden: true}
          - {name: asked_duty, type: u32, bits: 4, stay: true, hidden: true}
          - {name: asked_electrical_speed, type: u32, bits: 5, stay: true, hidden: true}
          - {name: asked_speed, type: u32, bits: 6, stay: true, hidden: true}
          - {name: asked_voltage, type: u32, bits: 7, stay: true, hidden: true}
          - {name: asked_percent, type: u32, bits: 8, hidden: true}
          - when: {asked_mosfet: 1}
            fields:
              - {name: mosfet_temperature, type: i16, scale: 0.1, unit: °C}
          - when: {asked_motor: 1}
            fields:
              - {name: motor_temperature, type: i16, scale: 0.1, unit: °C}
          - when: {asked_motor_current: 1}
            fields:
              - {name: motor_current, type: i32, scale: 0.01, unit: A}
          - when: {asked_current: 1}
            fields:
              - {name: battery.current, type: i32, scale: -0.01, unit: A}
          - when: {asked_duty: 1}
            fields:
              - {name: duty, type: i16, scale: 0.1, unit: "%"}
          - when: {asked_electrical_speed: 1}
            fields:
              - {name: electrical_speed, type: i32, unit: rpm}
          - when: {asked_speed: 1}
            fields:
              - {name: speed, type: i32, scale: 0.001, unit: m/s}
          - when: {asked_voltage: 1}
            fields:
              - {name: battery.voltage, type: i16, scale: 0.1, unit: V}
          - when: {asked_percent: 1}
            fields:
              - {name: battery.percent, type: i16, scale: 0.1, unit: "%"}
      # A battery management system on its bus.
      bms:
        framing: [frame, long]
        when: {command: 96}
        fields:
          - {name: bms_voltage, type: i32, scale: 0.000001, unit: V}
          - {name: bms_charger_voltage, type: i32, scale: 0.000001, unit: V}
          - {name: bms_current, type: i32, scale: 0.000001, unit: A}
          - {name: bms_chip_current, type: i32, scale: 0.000001, unit: A}
          - {name: bms_charge, type: i32, scale: 0.001, unit: Ah}
          - {name: bms_energy, type: i32, scale: 0.001, unit: Wh}
          - {name: bms_cell_count, type: u8}
          - {name: battery.cells, type: i16, scale: 0.001, unit: V, repeat: bms_cell_count}
          - {name: bms_balancing, type: u8, repeat: bms_cell_count, hidden: true}
          - {name: bms_sensor_count, type: u8}
          - {name: battery.temperatures, type: i16, scale: 0.01, unit: °C, repeat: bms_sensor_count}
          - {name: bms_chip_temperature, type: i16, scale: 0.01, unit: °C}
          - {name: bms_air_temperature, type: i16, scale: 0.01, unit: °C}
          - {name: bms_humidity, type: i16, scale: 0.01, unit: "%"}
          - {name: bms_hottest_cell, type: i16, scale: 0.01, unit: °C}
          - {name: battery.percent, type: i16, scale: 0.1, unit: "%"}
          - {name: battery.health, type: i16, scale: 0.1, unit: "%"}
      # What a mask asks for: the mask again, then these.
      selected:
        framing: [frame, long]
        when: {command: 50}
        fields:
          - {name: has_mosfet, type: u32, bits: 0, stay: true, hidden: true}
          - {name: has_motor, type: u32, bits: 1, stay: true, hidden: true}
          - {name: has_motor_current, type: u32, bits: 2, stay: true, hidden: true}
          - {name: has_current, type: u32, bits: 3, stay: true, hidden: true}
          - {name: has_direct_current, type: u32, bits: 4, stay: true, hidden: true}
          - {name: has_quadrature_current, type: u32, bits: 5, stay: true, hidden: true}
          - {name: has_duty, type: u32, bits: 6, stay: true, hidden: true}
          - {name: has_electrical_speed, type: u32, bits: 7, stay: true, hidden: true}
          - {name: has_voltage, type: u32, bits: 8, stay: true, hidden: true}
          - {name: has_discharged, type: u32, bits: 9, stay: true, hidden: true}
          - {name: has_charged, type: u32, bits: 10, stay: true, hidden: true}
          - {name: has_discharged_energy, type: u32, bits: 11, stay: true, hidden: true}
          - {name: has_charged_energy, type: u32, bits: 12, stay: true, hidden: true}
          - {name: has_tachometer, type: u32, bits: 13, stay: true, hidden: true}
          - {name: has_tachometer_absolute, type: u32, bits: 14, stay: true, hidden: true}
          - {name: has_fault, type: u32, bits: 15, stay: true, hidden: true}
          - {name: has_position, type: u32, bits: 16, stay: true, hidden: true}
          - {name: has_controller, type: u32, bits: 17, stay: true, hidden: true}
          - {name: has_mosfets, type: u32, bits: 18, stay: true, hidden: true}
          - {name: has_direct_voltage, type: u32, bits: 19, stay: true, hidden: true}
          - {name: has_quadrature_voltage, type: u32, bits: 20, stay: true, hidden: true}
          - {name: has_status, type: u32, bits: 21, hidden: true}
          - when: {has_mosfet: 1}
            fields:
              - {name: mosfet_temperature, type: i16, scale: 0.1, unit: °C}
          - when: {has_motor: 1}
            fields:
              - {name: motor_temperature, type: i16, scale: 0.1, unit: °C}
          - when: {has_motor_current: 1}
            fields:
              - {name: motor_current, type: i32, scale: 0.01, unit: A}
          - when: {has_current: 1}
            fields:
              - {name: battery.current, type: i32, scale: -0.01, unit: A}
          - when: {has_direct_current: 1}
            fields:
              - {name: direct_current, type: i32, scale: 0.01, unit: A}
          - when: {has_quadrature_current: 1}
            fields:
              - {name: quadrature_current, type: i32, scale: 0.01, unit: A}
          - when: {has_duty: 1}
            fields:
              - {name: duty, type: i16, scale: 0.1, unit: "%"}
          - when: {has_electrical_speed: 1}
            fields:
              - {name: electrical_speed, type: i32, unit: rpm}
          - when: {has_voltage: 1}
            fields:
              - {name: battery.voltage, type: i16, scale: 0.1, unit: V}
          - when: {has_discharged: 1}
            fields:
              - {name: discharged, type: i32, scale: 0.0001, unit: Ah}
          - when: {has_charged: 1}
            fields:
              - {name: charged, type: i32, scale: 0.0001, unit: Ah}
          - when: {has_discharged_energy: 1}
            fields:
              - {name: discharged_energy, type: i32, scale: 0.0001, unit: Wh}
          - when: {has_charged_energy: 1}
            fields:
              - {name: charged_energy, type: i32, scale: 0.0001, unit: Wh}
          - when: {has_tachometer: 1}
            fields:
              - {name: tachometer, type: i32}
          - when: {has_tachometer_absolute: 1}
            fields:
              - {name: tachometer_absolute, type: i32}
          - when: {has_fault: 1}
            fields:
              - name: fault
                type: u8
                words:
                  0: none
                  1: overvoltage
                  2: undervoltage
                  3: driver
                  4: overcurrent
                  5: mosfets-hot
                  6: motor-hot
                  7: gate-driver-overvoltage
                  8: gate-driver-undervoltage
                  9: controller-undervoltage
                  10: watchdog-reset
                  11: encoder-spi
                  12: encoder-amplitude-low
                  13: encoder-amplitude-high
                  14: flash
                  15: offset-of-sensor-1
                  16: offset-of-sensor-2
                  17: offset-of-sensor-3
                  18: unbalanced-currents
                  19: brake
                  20: resolver-loss-of-tracking
                  21: resolver-degradation
                  22: resolver-loss-of-signal
                  23: flash-of-program
                  24: flash-of-settings
                  25: no-magnet
                  26: magnet-too-strong
                  27: phase-filter
                  28: encoder
                  29: low-output-voltage
                  30: slip
                  31: overspeed
                  32: underspeed
          - when: {has_position: 1}
            fields:
              - {name: position, type: i32, scale: 0.000001, unit: °}
          - when: {has_controller: 1}
            fields:
              - {name: controller, type: u8}
          - when: {has_mosfets: 1}
            fields:
              - {name: mosfet_1_temperature, type: i16, scale: 0.1, unit: °C}
              - {name: mosfet_2_temperature, type: i16, scale: 0.1, unit: °C}
              - {name: mosfet_3_temperature, type: i16, scale: 0.1, unit: °C}
          - when: {has_direct_voltage: 1}
            fields:
              - {name: direct_voltage, type: i32, scale: 0.001, unit: V}
          - when: {has_quadrature_voltage: 1}
            fields:
              - {name: quadrature_voltage, type: i32, scale: 0.001, unit: V}
          - when: {has_status: 1}
            fields:
              - {name: controller_status, type: u8, flags: {0: timed-out, 1: kill-switch}}

    derived:
      - {name: battery.charging, rule: charge-by-sign, of: battery.current, dead_band: 0.05}

    requests:
      firmware: {summary: "Its firmware, name and serial number", send: frame, with: {command: 0}, reply: firmware, same: command}
      values: {summary: "Temperatures, currents, voltage, fault", send: frame, with: {command: 4}, reply: values, same: command}
      setup: {summary: The same of all controllers with the battery's charge, send: frame, with: {command: 47}, reply: setup, same: command}
      selected:
        summary: Some of its values, by a mask
        send: frame
        with: {command: 50}
        data: [{argument: mask}]
        arguments:
          mask: {type: u32, default: 0x00008188}
        reply: selected
        same: command
      selected_setup:
        summary: Some values of all controllers, by a mask
        send: frame
        with: {command: 51}
        data: [{argument: mask}]
        arguments:
          mask: {type: u32, from: 1, to: 0x1FF, default: 0x0000018C}
        reply: selected_setup
        same: command
      bms: {summary: A battery management system on its bus, send: frame, with: {command: 96}, reply: bms, same: command}

    plan:
      identify: {request: firmware}
      poll:
        - {requests: [values, setup], every: 5s}

    examples:
      - request: values
        sent: 02 01 04 40 84 03
        received: 024a040114000000000025000000030000000000000020006e000003fb017d000000110000000000000289
          00000000ffff6f4b00029fc700046a7c28010115fc4cfc0d000000e5000008d6003a9703
        expect:
          mosfet_temperature: 27.6
          motor_temperature: 0
          motor_current: 0.37
          battery.current: -0.03
          duty: 11
          electrical_speed: 1019
          battery.voltage: 38.1
          discharged: 0.0017
          discharged_energy: 0.0649
          tachometer: -37045
          fault: none
          controller: 1
          battery.percent: unknown
      - request: values
        received: 024a040114000000000000000000000000000000000000000000000000017700000009000000000000017400000000
          ffff83400002a8fe00120641e0140115fcd8fcca000000080000000c00da7103
        expect: {battery.voltage: 37.5, battery.current: 0, battery.charging: not_charging}
      - request: {selected: {mask: 0x0002A18A}}
        sent: 02 05 32 00 02 A1 8A 38 80 03
        received: 0217320002a18a000000000004000003dd0177ffffaa2b00142d3a03
        expect:
          motor_temperature: 0
          battery.current: -0.04
          electrical_speed: 989
          battery.voltage: 37.5
          tachometer: -21973
          fault: none
          controller: 20
          mosfet_temperature: unknown
      - request: firmware
        sent: 02 01 00 00 00 03
        received: 021e0005010a4d4954205445535420563200410052000151333236363239010025d403
        expect:
          firmware_major: 5
          firmware_minor: 1
          identity.name: "\nMIT TEST V2"
          identity.serial: 410052000151333236363239
      - {request: setup, sent: 02 01 2F D5 8D 03}
      # The answer was made here.
      - request: selected_setup
        sent: 02 05 33 00 00 01 8C 81 09 03
        received: 0211330000018c0000009600000028017d02a0502b03
        expect:
          motor_current: 1.5
          battery.current: -0.4
          battery.voltage: 38.1
          battery.percent: 67.2
          speed: unknown
      - {request: selected, sent: 02 05 32 00 00 81 88 70 44 03}
      - {request: bms, sent: 02 01 60 6C A6 03}
      # Made of the one above: behind the versions more is said, so that it has the head of long frames.
      - request: firmware
        received: 0301060006025645534320360041005200015133323636323900000000000000000000000000000000000000000000000000
          0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000
          0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000
          0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000
          0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000
          0000000000000000000000000000004f6303
        expect: {firmware_major: 6, firmware_minor: 2, identity.name: VESC 6, identity.serial: 410052000151333236363239}
      # One bit is wrong.
      - request: firmware
        received: 021e0005010a4d4954205445535420563300410052000151333236363239010025d403
        refused: true
      # It sets the duty cycle.
      - {sent: 02 05 05 00 00 00 64 0F 75 03, write: true}
    """#
}
