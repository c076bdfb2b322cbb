// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// The error of a call: its name in an interface, with its parameters.
package struct CallError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The error's name, preceded by the interface's ("accessorybridge.Bridge.Busy").
  package let name: String
  /// The error's fields.
  package let parameters: [String: JSON]

  /// An error with this name and these fields.
  package init(name: String, parameters: [String: JSON] = [:]) {
    self.name = name
    self.parameters = parameters
  }

  /// The error as text for people.
  package var description: String {
    if let message = parameters["message"]?.text { return message }
    let details = parameters.sorted { $0.key < $1.key }.compactMap { $0.value.text }
    return ([name] + details).joined(separator: ": ")
  }
}

// MARK: - Errors of org.varlink.service

extension CallError {
  private static func service(_ name: String, _ field: String? = nil, _ value: String = "") -> CallError {
    CallError(name: "org.varlink.service.\(name)", parameters: field.map { [$0: .string(value)] } ?? [:])
  }

  /// The interface doesn't exist.
  package static func interfaceNotFound(_ interface: String) -> CallError {
    service("InterfaceNotFound", "interface", interface)
  }

  /// The interface has no such method.
  package static func methodNotFound(_ method: String) -> CallError { service("MethodNotFound", "method", method) }

  /// The method exists in the interface, but this service doesn't implement it.
  package static func methodNotImplemented(_ method: String) -> CallError {
    service("MethodNotImplemented", "method", method)
  }

  /// A parameter is missing, unknown or of another type.
  package static func invalidParameter(_ parameter: String) -> CallError {
    service("InvalidParameter", "parameter", parameter)
  }

  /// The method has several replies, and the call doesn't have the flag `more`.
  package static let expectedMore = service("ExpectedMore")
}

// MARK: - Errors of accessorybridge.Bridge

extension CallError {
  private static let prefix = "accessorybridge.Bridge."

  /// The error of an operation on `device`, or on no device; `holder` is the client that has borrowed it, if known.
  package init(_ error: AccessoryError, device: String? = nil, holder: String? = nil) {
    var parameters: [String: JSON] = ["message": .string(error.message)]
    parameters["device"] = device.map(JSON.string)
    switch error.code {
    case nil: break
    case .errno(let number): parameters["errno"] = .int(number)
    case .refusal(let reason): parameters["refusal"] = .int(reason)
    case .libusb(let number): parameters["libusb"] = .int(number)
    }
    if error.kind == .busy { parameters["holder"] = holder.map(JSON.string) }
    self.init(name: Self.prefix + error.kind.errorName, parameters: parameters)
  }

  /// Several devices match the parameter `device`.
  package static func ambiguousDevice(_ device: String?, candidates: [String], _ message: String) -> CallError {
    var parameters: [String: JSON] = [
      "message": .string(message), "candidates": .array(candidates.map(JSON.string)),
    ]
    parameters["device"] = device.map(JSON.string)
    return CallError(name: prefix + "AmbiguousDevice", parameters: parameters)
  }

  package static func limitReached(_ limit: Int, _ message: String) -> CallError {
    CallError(name: prefix + "LimitReached", parameters: ["limit": .int(limit), "message": .string(message)])
  }

  /// The names of the matching devices, for `AmbiguousDevice`; otherwise nil.
  package var candidates: [String]? {
    guard name == Self.prefix + "AmbiguousDevice", case .array(let values)? = parameters["candidates"] else {
      return nil
    }
    return values.compactMap(\.text)
  }

  /// Whether the service doesn't know the method, as a service that is older than the method.
  package var isOfUnknownMethod: Bool {
    ["MethodNotFound", "MethodNotImplemented"].contains { name == "org.varlink.service.\($0)" }
  }

  /// Whether the service doesn't know this parameter, as a service that is older than the parameter.
  package func isOfUnknownParameter(_ parameter: String) -> Bool {
    name == "org.varlink.service.InvalidParameter" && parameters["parameter"]?.text == parameter
  }

  /// The client that has borrowed the device, if the error names it.
  package var holder: String? { parameters["holder"]?.text }

  /// The error converted to an `AccessoryError`. An error of `org.varlink.service` gets the nearest kind; an unknown
  /// error becomes `badData`.
  package var accessoryError: AccessoryError {
    let kind: AccessoryError.Kind
    if let same = AccessoryError.Kind.allCases.first(where: { name == Self.prefix + $0.errorName }) {
      kind = same
    } else {
      switch name {
      case Self.prefix + "AmbiguousDevice", "org.varlink.service.InvalidParameter": kind = .misconfigured
      case Self.prefix + "LimitReached": kind = .busy
      case "org.varlink.service.PermissionDenied": kind = .permissionDenied
      case let name where name.hasPrefix("org.varlink.service."): kind = .unsupported
      default: kind = .badData
      }
    }
    return AccessoryError(kind, code: code, description)
  }

  private var code: AccessoryError.Code? {
    func number<Number: FixedWidthInteger>(_ field: String) -> Number? {
      if case .number(let digits)? = parameters[field] { Number(digits) } else { nil }
    }
    if let errno: CInt = number("errno") { return .errno(errno) }
    if let reason: UInt8 = number("refusal") { return .refusal(reason) }
    if let libusb: CInt = number("libusb") { return .libusb(libusb) }
    return nil
  }
}

extension AccessoryError.Kind {
  /// The name in `accessorybridge.Bridge` of the error for this kind.
  package var errorName: String {
    switch self {
    case .disconnected: "Disconnected"
    case .busy: "Busy"
    case .permissionDenied: "PermissionDenied"
    case .notFound: "NoSuchDevice"
    case .timedOut: "TimedOut"
    case .cancelled: "Cancelled"
    case .refused: "Refused"
    case .badData: "BadData"
    case .unsupported: "Unsupported"
    case .misconfigured: "Misconfigured"
    case .ioFailure: "IOFailure"
    }
  }
}
