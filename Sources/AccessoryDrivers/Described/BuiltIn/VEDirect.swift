// SPDX-License-Identifier: Apache-2.0

extension BuiltInDescriptions {
  /// Victron devices: text blocks, sent every second without a request, and HEX messages between or inside the blocks.
  static let vedirect = #"""
    protocol: vedirect
    version: 1
    description: Victron VE.Direct, shunts, monitors and solar chargers
    # HEX messages set registers: they switch the load output and set the charge voltages.
    raw: guarded
    byte_order: little
    # The RS232 cable takes its supply from DTR and RTS.
    line: {baud: 19200, dtr: on, rts: on}

    framings:
      block:
        pairs: {begin: "\r\n", separator: "\t", close: Checksum}
        max: 1024
      # A value of a register: what a get answers, and what solar chargers send by themselves.
      value:
        layout:
          - start: ":"
          - command: u8
          - register: u16
          - status: u8
          - data
          - check: {algorithm: sum8-0x55, over: command..data}
          - end: "\n"
        digits: hex
        first_digit: single
        interrupts: true
      # Any other HEX message: pings, versions, errors.
      hex:
        layout:
          - start: ":"
          - command: u8
          - data
          - check: {algorithm: sum8-0x55, over: command..data}
          - end: "\n"
        digits: hex
        first_digit: single
        interrupts: true

    messages:
      block:
        framing: block
        pushed: true
        pairs:
          V: {name: battery.voltage, type: number, scale: 0.001, unit: V}
          V2: {name: voltage_2, type: number, scale: 0.001, unit: V}
          V3: {name: voltage_3, type: number, scale: 0.001, unit: V}
          VS: {name: starter_voltage, type: number, scale: 0.001, unit: V}
          VM: {name: mid_point_voltage, type: number, scale: 0.001, unit: V}
          DM: {name: mid_point_deviation, type: number, scale: 0.1, unit: "%"}
          VPV: {name: panel_voltage, type: number, scale: 0.001, unit: V}
          PPV: {name: panel_power, type: number, unit: W}
          I: {name: battery.current, type: number, scale: 0.001, unit: A}
          I2: {name: current_2, type: number, scale: 0.001, unit: A}
          I3: {name: current_3, type: number, scale: 0.001, unit: A}
          IL: {name: load_current, type: number, scale: 0.001, unit: A, role: output.current}
          LOAD: {name: load, type: word, words: {ON: 1, OFF: 0}, truth: true}
          T: {name: battery.temperature, type: number, unit: °C, unknown: "---"}
          P: {name: battery.power, type: number, unit: W}
          CE: {name: consumed, type: number, scale: 0.001, unit: Ah}
          # Without synchronisation a shunt doesn't know it, and a solar charger never does.
          SOC: {name: battery.percent, type: number, scale: 0.1, unit: "%", unknown: "---"}
          TTG: {name: battery.time_to_empty, type: number, unit: min, unknown: [-1, "---"]}
          Alarm: {name: alarm, type: word, words: {ON: 1, OFF: 0}, truth: true}
          Relay: {name: relay, type: word, words: {ON: 1, OFF: 0}, truth: true}
          AR:
            name: battery.warnings
            type: number
            flags:
              0: low-voltage
              1: high-voltage
              2: low-soc
              3: low-starter-voltage
              4: high-starter-voltage
              5: low-temperature
              6: high-temperature
              7: mid-voltage
              8: overload
              9: dc-ripple
              10: low-ac-voltage
              11: high-ac-voltage
              12: short-circuit
              13: bms-lockout
          OR:
            name: off_reasons
            type: hexnumber
            form: 0x00000000
            flags:
              0: no-input
              1: switched-off
              2: off-by-register
              3: remote-input
              4: protection
              5: paygo
              6: bms
              7: engine-shutdown
              8: analysing-input
          CS:
            name: charger_state
            type: number
            words:
              0: "off"
              1: low-power
              2: fault
              3: bulk
              4: absorption
              5: float
              6: storage
              7: equalize-manual
              9: inverting
              11: power-supply
              245: starting-up
              246: repeated-absorption
              247: auto-equalize
              248: battery-safe
              252: external-control
          ERR:
            name: error
            type: number
            words:
              0: none
              2: battery-voltage-high
              17: charger-hot
              18: charger-overcurrent
              19: current-reversed
              20: bulk-time-limit
              21: current-sensor
              26: terminals-hot
              28: converter
              33: input-voltage-high
              34: input-current-high
              38: input-shutdown-voltage
              39: input-shutdown-current
              65: lost-device
              66: sync-configuration
              67: bms-lost
              68: network
              116: calibration-lost
              117: firmware
              119: settings
          MPPT: {name: tracker, type: number, words: {0: "off", 1: limited, 2: tracking}}
          MODE: {name: mode, type: number, words: {1: charger, 2: inverter, 4: "off", 5: eco, 253: hibernate}}
          MON: {name: monitor_mode, type: number}
          AC_OUT_V: {name: ac_voltage, type: number, scale: 0.01, unit: V}
          AC_OUT_I: {name: ac_current, type: number, scale: 0.1, unit: A}
          AC_OUT_S: {name: ac_power, type: number, unit: VA}
          DC_IN_V: {name: dc_input_voltage, type: number, scale: 0.01, unit: V}
          DC_IN_I: {name: dc_input_current, type: number, scale: 0.1, unit: A}
          DC_IN_P: {name: dc_input_power, type: number, unit: W}
          PID: {name: product_id, type: text}
          FW: {name: identity.firmware, type: text}
          FWE: {name: firmware_extended, type: text}
          SER#: {name: identity.serial, type: text}
          BMV: {name: identity.model, type: text}
          HSDS: {name: day, type: number}
          H1: {name: deepest_discharge, type: number, scale: 0.001, unit: Ah}
          H2: {name: last_discharge, type: number, scale: 0.001, unit: Ah}
          H3: {name: average_discharge, type: number, scale: 0.001, unit: Ah}
          H4: {name: battery.cycles, type: number}
          H5: {name: full_discharges, type: number}
          H6: {name: cumulative_discharge, type: number, scale: 0.001, unit: Ah}
          H7: {name: lowest_voltage, type: number, scale: 0.001, unit: V}
          H8: {name: highest_voltage, type: number, scale: 0.001, unit: V}
          H9: {name: time_since_full, type: number, unit: s}
          H10: {name: synchronizations, type: number}
          H11: {name: low_voltage_alarms, type: number}
          H12: {name: high_voltage_alarms, type: number}
          H13: {name: low_starter_alarms, type: number}
          H14: {name: high_starter_alarms, type: number}
          H15: {name: lowest_starter_voltage, type: number, scale: 0.001, unit: V}
          H16: {name: highest_starter_voltage, type: number, scale: 0.001, unit: V}
          H17: {name: discharged_energy, type: number, scale: 0.01, unit: kWh}
          H18: {name: charged_energy, type: number, scale: 0.01, unit: kWh}
          H19: {name: yield, type: number, scale: 0.01, unit: kWh}
          H20: {name: yield_today, type: number, scale: 0.01, unit: kWh}
          H21: {name: highest_power_today, type: number, unit: W}
          H22: {name: yield_yesterday, type: number, scale: 0.01, unit: kWh}
          H23: {name: highest_power_yesterday, type: number, unit: W}
      voltage:
        framing: value
        when: {command: [7, 10], register: 0xED8D, status: 0}
        fields:
          - {name: battery.voltage, type: i16, scale: 0.01, unit: V, unknown: 0x7FFF}
      current:
        framing: value
        when: {command: [7, 10], register: 0xED8F, status: 0}
        fields:
          - {name: battery.current, type: i16, scale: 0.1, unit: A, unknown: 0x7FFF}
      charge:
        framing: value
        when: {command: [7, 10], register: 0x0FFF, status: 0}
        fields:
          - {name: battery.percent, type: u16, scale: 0.01, unit: "%", unknown: 0xFFFF}
      time_to_go:
        framing: value
        when: {command: [7, 10], register: 0x0FFE, status: 0}
        fields:
          - {name: battery.time_to_empty, type: u16, unit: min, unknown: 0xFFFF}
      temperature:
        framing: value
        when: {command: [7, 10], register: 0xEDEC, status: 0}
        fields:
          - {name: battery.temperature, type: u16, offset: -27315, scale: 0.01, unit: °C, unknown: 0xFFFF}
      capacity:
        framing: value
        when: {command: [7, 10], register: 0x1000, status: 0}
        fields:
          - {name: battery.full, type: u16, unit: Ah, unknown: 0xFFFF}
      serial:
        framing: value
        when: {command: [7, 10], register: 0x010A, status: 0}
        fields:
          - {name: identity.serial, type: text}
      panel_power:
        framing: value
        when: {command: [7, 10], register: 0xEDBC, status: 0}
        fields:
          - {name: panel_power, type: u32, scale: 0.01, unit: W, unknown: 0xFFFFFFFF}
      panel_voltage:
        framing: value
        when: {command: [7, 10], register: 0xEDBB, status: 0}
        fields:
          - {name: panel_voltage, type: u16, scale: 0.01, unit: V, unknown: 0xFFFF}
      charger_current:
        framing: value
        when: {command: [7, 10], register: 0xEDD7, status: 0}
        fields:
          - {name: charger_current, type: u16, scale: 0.1, unit: A, unknown: 0xFFFF}
      charger_temperature:
        framing: value
        when: {command: [7, 10], register: 0xEDDB, status: 0}
        fields:
          - {name: charger_temperature, type: i16, scale: 0.01, unit: °C, unknown: 0x7FFF}
      charger_voltage:
        framing: value
        when: {command: [7, 10], register: 0xEDD5, status: 0}
        fields:
          - {name: charger_voltage, type: u16, scale: 0.01, unit: V, unknown: 0xFFFF}
      refused:
        framing: value
        when: {command: 7}
        unless: {status: 0}
        refusal:
          reason: status
          words: {1: there is no such register, 2: it isn't supported, 4: it was asked wrongly}
      # What is answered in both of these is told by what was asked.
      product:
        framing: hex
        when: {command: 1}
        fields:
          - {name: product_number, type: u16}
      application:
        framing: hex
        when: {command: 1}
        fields:
          - {name: version, type: u16, hidden: true}
      ping:
        framing: hex
        when: {command: 5}
        fields:
          - {name: version, type: u16, hidden: true}
      unknown_command:
        framing: hex
        when: {command: [3, 4]}
        refusal: true

    derived:
      - name: charging_by_charger
        rule: words
        of: charger_state
        words:
          bulk: charging
          absorption: charging
          float: charging
          equalize-manual: charging
          repeated-absorption: charging
          auto-equalize: charging
        hidden: true
      - {name: charging_by_current, rule: charge-by-sign, of: battery.current, dead_band: 0.05, hidden: true}
      - {name: battery.charging, rule: first, of: [charging_by_charger, charging_by_current]}
      # Any error is a fault, whether or not its number has a word above.
      - {name: status.state, rule: words, of: charger_state, words: {fault: fault}}
      - {name: status.fault, rule: number, of: error}

    # None of these is made by itself: behind a HEX message old versions stop their text for seconds.
    requests:
      ping: {summary: Whether it hears HEX messages, send: hex, with: {command: 1}, reply: ping}
      product: {summary: The number of its product, send: hex, with: {command: 4}, reply: product}
      application: {summary: Whether its program runs, send: hex, with: {command: 3}, reply: application}
      voltage:
        summary: The battery's voltage
        send: value
        with: {command: 7, register: 0xED8D, status: 0}
        reply: voltage
        same: register
      current:
        summary: The battery's current
        send: value
        with: {command: 7, register: 0xED8F, status: 0}
        reply: current
        same: register
      charge:
        summary: The battery's charge
        send: value
        with: {command: 7, register: 0x0FFF, status: 0}
        reply: charge
        same: register
      capacity:
        summary: The battery's capacity
        send: value
        with: {command: 7, register: 0x1000, status: 0}
        reply: capacity
        same: register

    plan:
      timeout: 2s
      expiry: 10s
      # A shunt sends two blocks each second, and others as many as they need: the one with the voltage is the first.
      round: battery.voltage

    examples:
      - received: "\r\nPID\t0xA389\r\nV\t53509\r\nI\t23866\r\nP\t1277\r\nCE\t-131099\r\nSOC\t548\r\nTTG\t-1\r\nAlarm\tOFF\r\nAR\t0\r\nBMV\tSmartShunt 500A/50mV\r\nFW\t0414\r\nMON\t0\r\nChecksum\t\xdf"
        expect:
          battery.voltage: 53.509
          battery.current: 23.866
          battery.power: 1277
          battery.percent: 54.8
          battery.time_to_empty: unknown
          battery.warnings: []
          battery.charging: charging
          consumed: -131.099
          alarm: false
          product_id: "0xA389"
          identity.model: SmartShunt 500A/50mV
          identity.firmware: "0414"
      - received: "\r\nH1\t-276495\r\nH2\t-238319\r\nH3\t-136881\r\nH4\t3\r\nH5\t0\r\nH6\t-2994109\r\nH7\t50422\r\nH8\t55353\r\nH9\t163632\r\nH10\t2\r\nH11\t0\r\nH12\t0\r\nH15\t0\r\nH16\t0\r\nH17\t15636\r\nH18\t16783\r\nChecksum\t\x16"
        expect:
          deepest_discharge: -276.495
          battery.cycles: 3
          cumulative_discharge: -2994.109
          highest_voltage: 55.353
          time_since_full: 163632
          discharged_energy: 156.36
          charged_energy: 167.83
      - received: "\r\nH1\t-32914\r\nH2\t0\r\nH3\t0\r\nH4\t0\r\nH5\t0\r\nH6\t-35652\r\nH7\t12041\r\nH8\t14282\r\nH9\t0\r\nH10\t0\r\nH11\t0\r\nH12\t0\r\nH15\t-22\r\nH16\t0\r\nH17\t46\r\nH18\t48\r\nChecksum\t\x1a"
        expect: {deepest_discharge: -32.914, lowest_starter_voltage: -0.022, discharged_energy: 0.46}
      - received: "\r\nPID\t0xA389\r\nV\t12865\r\nVS\t-14\r\nI\t0\r\nP\t0\r\nCE\t0\r\nSOC\t1000\r\nTTG\t-1\r\nAlarm\tOFF\r\nAR\t0\r\nBMV\tSmartShunt 500A/50mV\r\nFW\t0405\r\nChecksum\tL"
        expect:
          battery.voltage: 12.865
          starter_voltage: -0.014
          battery.current: 0
          battery.percent: 100
          battery.charging: not_charging
          identity.firmware: "0405"
      - received: "\r\nERR\t0\r\nLOAD\tON\r\nRelay\tOFF\r\nH19\t1158\r\nH20\t77\r\nH21\t479\r\nH22\t135\r\nH23\t525\r\nHSDS\t2\r\nChecksum\t\x05"
        expect:
          error: none
          status.fault: 0
          load: true
          relay: false
          yield: 11.58
          yield_today: 0.77
          highest_power_today: 479
          day: 2
      - received: "\r\nPID\t0xA053\r\nFW\t161\r\nSER#\tHQ2132QY2KR\r\nV\t13120\r\nI\t-100\r\nVPV\t36370\r\nPPV\t0\r\nCS\t0\r\nMPPT\t0\r\nOR\t0x00000001\r\nERR\t0\r\nLOAD\tON\r\nIL\t100\r\nChecksum\t\x1d"
        expect:
          battery.voltage: 13.12
          battery.current: -0.1
          battery.percent: unknown
          battery.charging: discharging
          panel_voltage: 36.37
          panel_power: 0
          charger_state: "off"
          tracker: "off"
          off_reasons: [no-input]
          load_current: 0.1
          identity.serial: HQ2132QY2KR
      # A HEX message in the middle of a block is no part of its sum.
      - received: "\r\nERR\t0\r\nLOAD\tON\r\nRel:7001000C80076\nay\tOFF\r\nH19\t1158\r\nH20\t77\r\nH21\t479\r\nH22\t135\r\nH23\t525\r\nHSDS\t2\r\nChecksum\t\x05"
        expect: {relay: false, yield: 11.58, battery.full: 200}
      # One digit is wrong.
      - received: "\r\nPID\t0xA389\r\nV\t12866\r\nVS\t-14\r\nI\t0\r\nP\t0\r\nCE\t0\r\nSOC\t1000\r\nTTG\t-1\r\nAlarm\tOFF\r\nAR\t0\r\nBMV\tSmartShunt 500A/50mV\r\nFW\t0405\r\nChecksum\tL"
        refused: true
      - {request: ping, sent: ":154\n", received: ":501440B\n"}
      - {request: product, sent: ":451\n", received: ":181A330\n", expect: {product_number: 41857}}
      - {request: application, sent: ":352\n", received: ":101440F\n"}
      - {request: capacity, sent: ":70010003E\n", received: ":7001000C80076\n", expect: {battery.full: 200}}
      - {received: ":ADBED00CD0AAC\n", expect: {charger_temperature: 27.65}}
      - {received: ":7DBED009E16D2\n", expect: {charger_temperature: 57.9}}
      - {received: ":ABCED005AA10000A7\n", expect: {panel_power: 413.06}}
      - {received: ":ABBED007A2801\n", expect: {panel_voltage: 103.62}}
      - {received: ":AD7ED00A000E7\n", expect: {charger_current: 16}}
      - {received: ":7ECED00FFFF77\n", expect: {battery.temperature: unknown}}
      - {received: ":ABCED00355001001C\n", expect: {panel_power: 860.69}}
      # These have registers that nobody describes.
      - {received: ":AB4ED00A5A2000063\n"}
      - {received: ":72720005450010062\n"}
      - {received: ":A200100287003008F\n"}
      - {received: ":A0102000345\n"}
      - {received: ":4AAAAFD\n", refused: true}
      # They set something.
      - {sent: ":8001000F40148\n", write: true}
      - {sent: ":8001004010038\n", write: true}
      - {sent: ":800100000003D\n", write: true}
    """#
}
