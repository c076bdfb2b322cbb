// SPDX-License-Identifier: Apache-2.0

/// A service's reply to `GetInfo`.
package struct ServiceInformation: Sendable, Hashable, Codable {
  package var vendor, product, version, url: String

  package init(vendor: String, product: String, version: String, url: String) {
    self.vendor = vendor
    self.product = product
    self.version = version
    self.url = url
  }
}

/// The interface that every Varlink service has.
enum ServiceInterface {
  static let name = "org.varlink.service"

  static let text = """
    # What every Varlink service answers: who it is, and what it can do.
    interface org.varlink.service

    # Who the service is, and its interfaces.
    method GetInfo() -> (vendor: string, product: string, version: string, url: string, interfaces: []string)

    # The description of an interface.
    method GetInterfaceDescription(interface: string) -> (description: string)

    # There is no such interface.
    error InterfaceNotFound (interface: string)

    # The interface has no such method.
    error MethodNotFound (method: string)

    # The interface has such a method, but this service doesn't.
    error MethodNotImplemented (method: string)

    # A parameter is missing, of another type than it should be, or unknown.
    error InvalidParameter (parameter: string)

    # The client may not do this.
    error PermissionDenied ()

    # The method has more than one answer to give: call it with `more`.
    error ExpectedMore ()

    """
}
