import NIOHTTP1

/// The description of the API (OpenAPI 3.1), for client generators.
enum OpenAPI {
  static let response = Response(
    .ok, headers: [("Content-Type", "application/json"), ("Cache-Control", "private, no-cache")],
    .bytes(PackageResources.openapi_json))
}
