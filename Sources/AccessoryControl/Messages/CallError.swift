// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// The error of a call: its name in an interface, and its parameters.
package struct CallError: Error, Hashable, Sendable, CustomStringConvertible {
  /// With its interface ("accessorybridge.Bridge.Busy").
  package let name: String
  /// Its fields.
  package let parameters: [String: JSON]

  /// An error of these parts.
  package init(name: String, parameters: [String: JSON] = [:]) {
    self.name = name
    self.parameters = parameters
  }

  /// For people.
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

  /// There is no such interface.
  package static func interfaceNotFound(_ interface: String) -> CallError {
    service("InterfaceNotFound", "interface", interface)
  }

  /// The interface has no such method.
  package static func methodNotFound(_ method: String) -> CallError { service("MethodNotFound", "method", method) }

  /// There is such a method, but not here.
  package static func methodNotImplemented(_ method: String) -> CallError {
    service("MethodNotImplemented", "method", method)
  }

  /// A parameter is missing, of another type than it should be, or unknown.
  package static func invalidParameter(_ parameter: String) -> CallError {
    service("InvalidParameter", "parameter", parameter)
  }

  /// The method has more than one answer to give, and the caller didn't say that it takes them.
  package static let expectedMore = service("ExpectedMore")
}

// MARK: - Errors of accessorybridge.Bridge

extension CallError {
  private static let prefix = "accessorybridge.Bridge."

  /// What went wrong with `device`, if it concerns one; `holder` says who has it where that is known.
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

  /// Several devices fit what was given for `device`.
  package static func ambiguousDevice(_ device: String?, candidates: [String], _ message: String) -> CallError {
    var parameters: [String: JSON] = [
      "message": .string(message), "candidates": .array(candidates.map(JSON.string)),
    ]
    parameters["device"] = device.map(JSON.string)
    return CallError(name: prefix + "AmbiguousDevice", parameters: parameters)
  }

  /// There are `limit` of them already.
  package static func limitReached(_ limit: Int, _ message: String) -> CallError {
    CallError(name: prefix + "LimitReached", parameters: ["limit": .int(limit), "message": .string(message)])
  }

  /// Several devices fit: their names.
  package var candidates: [String]? {
    guard name == Self.prefix + "AmbiguousDevice", case .array(let values)? = parameters["candidates"] else {
      return nil
    }
    return values.compactMap(\.text)
  }

  /// Whether the service doesn't know the method, as one that is older than it.
  package var isOfUnknownMethod: Bool {
    ["MethodNotFound", "MethodNotImplemented"].contains { name == "org.varlink.service.\($0)" }
  }

  /// Whether the service doesn't know this parameter, as one that is older than it.
  package func isOfUnknownParameter(_ parameter: String) -> Bool {
    name == "org.varlink.service.InvalidParameter" && parameters["parameter"]?.text == parameter
  }

  /// Who has the device, where the error says so.
  package var holder: String? { parameters["holder"]?.text }

  /// The same as an error of an accessory, as one that is not of this interface has to be read.
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
  /// The error of `accessorybridge.Bridge` that stands for this kind.
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
