// swift-tools-version: 6.2

import PackageDescription

/// The strictest settings the compiler has; every target starts with them.
let strict: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableExperimentalFeature("Lifetimes"),
  .strictMemorySafety(),
  .treatAllWarnings(as: .error),
  // Small generic functions are called across modules on every request.
  .unsafeFlags(["-cross-module-optimization"], .when(configuration: .release)),
]

/// Imports point one way: ffmount → Mount → Tree → Zip → Codecs → Bytes, with FuseLink beside the Tree.
let package = Package(
  name: "ffmount",
  products: [.executable(name: "ffmount", targets: ["ffmount"])],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
  ],
  targets: [
    .systemLibrary(name: "CFuse3", pkgConfig: "fuse3", providers: [.apt(["libfuse3-dev"])]),
    .systemLibrary(name: "CIsal", pkgConfig: "libisal", providers: [.apt(["libisal-dev"])]),
    .target(name: "CPosix"),

    .target(name: "Bytes", swiftSettings: strict),
    .target(name: "Files", dependencies: ["Bytes", "CPosix"], swiftSettings: strict),
    .target(name: "Codecs", dependencies: ["Bytes", "CIsal"], swiftSettings: strict),
    .target(name: "Zip", dependencies: ["Bytes", "Codecs"], swiftSettings: strict),
    .target(name: "Tree", dependencies: ["Bytes", "Files", "Zip"], swiftSettings: strict),
    .target(name: "FuseLink", dependencies: ["CFuse3", "CPosix"], swiftSettings: strict),
    .target(
      name: "Mount",
      dependencies: [
        "Bytes", "Files", "Tree", "FuseLink",
        .product(name: "Logging", package: "swift-log"),
      ], swiftSettings: strict),
    .executableTarget(
      name: "ffmount",
      dependencies: [
        "Bytes", "Files", "Tree", "FuseLink", "Mount", "CPosix",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "Logging", package: "swift-log"),
      ], swiftSettings: strict),

    .target(name: "TestSupport", dependencies: ["Bytes"], path: "Tests/TestSupport", swiftSettings: strict),
    .testTarget(name: "BytesTests", dependencies: ["Bytes", "Files", "TestSupport"], swiftSettings: strict),
    .testTarget(name: "ZipTests", dependencies: ["Bytes", "Codecs", "Zip", "TestSupport"], swiftSettings: strict),
    .testTarget(name: "TreeTests", dependencies: ["Bytes", "Files", "Tree", "TestSupport"], swiftSettings: strict),
    .testTarget(name: "MountTests", dependencies: ["TestSupport"], swiftSettings: strict),
  ]
)
