// SPDX-License-Identifier: Apache-2.0

extension BuiltInDescriptions {
  /// ELM327 adapters between a serial line and a car's diagnostic connector. The examples are of an emulator.
  static let elm327 = #"""
    protocol: elm327
    version: 1
    description: ELM327 and its relatives at a car's diagnostic plug
    # 04 clears the trouble codes of the car, and its controllers take many other commands.
    raw: guarded
    # Others are set to 9600, 115200 or 500000.
    line: {baud: 38400}

    framings:
      # It answers with lines, and then with a prompt that nothing follows.
      answer:
        layout: [data, end: ">"]
        # Zeros come from time to time; the text is what it says while it looks for the car's bus.
        ignore: {bytes: 00, texts: ["SEARCHING..."]}
        max: 1024

    messages:
      information:
        pattern: "{identity.model} v{identity.firmware}"
        types: {identity.model: {type: text}, identity.firmware: {type: text}}
      done: {pattern: "OK"}
      voltage:
        pattern: "{battery.voltage}V"
        types: {battery.voltage: {type: number, unit: V}}
      engine_speed:
        pattern: "41 0C {engine_speed}"
        types: {engine_speed: {type: hexnumber, as: u16, scale: 0.25, unit: rpm}}
      module_voltage:
        pattern: "41 42 {module_voltage}"
        types: {module_voltage: {type: hexnumber, as: u16, scale: 0.001, unit: V}}
      coolant:
        pattern: "41 05 {coolant_temperature}"
        types: {coolant_temperature: {type: hexnumber, form: 00, offset: -40, unit: °C}}
      fuel:
        pattern: "41 2F {fuel}"
        types: {fuel: {type: hexnumber, form: 00, scale: 100/255, unit: "%"}}
      interface: {pattern: "{interface}", types: {interface: {type: text}}}
      unknown_command: {pattern: "?", refusal: true}
      no_data: {pattern: "NO DATA", refusal: true}
      no_connection: {pattern: "UNABLE TO CONNECT", refusal: true}
      stopped: {pattern: "STOPPED", refusal: true}
      bus_error: {pattern: "CAN ERROR", refusal: true}
      start_failed: {pattern: "BUS INIT: ...ERROR", refusal: true}
      full: {pattern: "BUFFER FULL", refusal: true}

    requests:
      reset: {summary: Sets the adapter as it is delivered, send: "ATZ\r", reply: information, echoed: true, timeout: 2s}
      no_line_feeds: {summary: Lines end with a carriage return, send: "ATL0\r", reply: done, echoed: true}
      information: {summary: What the adapter is, send: "ATI\r", reply: information, echoed: true}
      interface: {summary: What it says of itself, send: "AT@1\r", reply: interface, echoed: true}
      voltage: {summary: The battery's voltage at the plug, send: "ATRV\r", reply: voltage, echoed: true}
      # With these it looks for the car's bus first, which takes up to ten seconds.
      engine_speed: {summary: The speed of the engine, send: "010C\r", reply: engine_speed, echoed: true, timeout: 10s}
      module_voltage:
        summary: The voltage at the engine's controller
        send: "0142\r"
        reply: module_voltage
        echoed: true
        timeout: 10s
      coolant: {summary: The temperature of the coolant, send: "0105\r", reply: coolant, echoed: true, timeout: 10s}
      fuel: {summary: How full the tank is, send: "012F\r", reply: fuel, echoed: true, timeout: 10s}

    plan:
      identify: {request: information}
      start: [{request: reset, expect: {identity.model: ELM327}}, no_line_feeds]
      retry_refused: true
      poll:
        - {requests: voltage, every: 10s}
      timeout: 1s

    examples:
      - {request: reset, sent: "ATZ\r", received: "ATZ\r\r\rELM327 v1.5\r\r>", expect: {identity.model: ELM327}}
      - request: information
        sent: "ATI\r"
        received: "ATI\rELM327 v1.5\r\r>"
        expect: {identity.model: ELM327, identity.firmware: "1.5"}
      - request: interface
        sent: "AT@1\r"
        received: "AT@1\rOBDII to RS232 Interpreter\r\r>"
        expect: {interface: OBDII to RS232 Interpreter}
      - {request: voltage, sent: "ATRV\r", received: "ATRV\r13.1V\r\r>", expect: {battery.voltage: 13.1}}
      # Adapters that send nothing back.
      - {request: voltage, received: "12.4V\r\r>", expect: {battery.voltage: 12.4}}
      - request: engine_speed
        sent: "010C\r"
        received: "010C\r41 0C 14 5F \r\r>"
        expect: {engine_speed: 1303.75}
      - request: module_voltage
        sent: "0142\r"
        received: "0142\r41 42 39 4B \r\r>"
        expect: {module_voltage: 14.667}
      # The first question has it look for the bus; and a zero is in the answer.
      - request: engine_speed
        received: ["010C\rSEARCHING...\r41 0C", 00, " 14 5F \r\r>"]
        expect: {engine_speed: 1303.75}
      - {request: engine_speed, received: "010C\rSEARCHING...\rUNABLE TO CONNECT\r\r>", refused: true}
      - {request: coolant, sent: "0105\r", received: "0105\r41 05 7B \r\r>", expect: {coolant_temperature: 83}}
      - {request: voltage, sent: "ATRV\r", received: "ATRV\r?\r\r>", refused: true}
      - {request: fuel, sent: "012F\r", received: "012F\rNO DATA\r\r>", refused: true}
    """#
}
