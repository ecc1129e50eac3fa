// swift-tools-version: 6.0
import PackageDescription

// Warnings become errors on the command line (see the Makefile): a package with unsafe flags could not
// be anyone's dependency.
let strict: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("InternalImportsByDefault"),
]

/// A target's name: a package cannot be used beside another one that has a target of the same name, so all but the products
/// carry the package's.
func prefixed(_ name: String) -> String {
  ["TileGeometry", "TileStorage", "PyramidBuilding"].contains(name) || name.hasPrefix("ziggurat")
    ? name : "Ziggurat\(name)"
}

func prefixed(_ names: [String]) -> [Target.Dependency] { names.map { .init(stringLiteral: prefixed($0)) } }

/// A module map of a system library: its name for pkg-config and Debian's package, or neither for what is in libc.
func c(_ name: String, _ pkgConfig: String? = nil, _ package: String? = nil) -> Target {
  .systemLibrary(
    name: prefixed(name), path: "Sources/C/\(name)", pkgConfig: pkgConfig,
    providers: package.map { [.apt([$0])] })
}

func library(
  _ name: String, _ dependencies: [String] = [], exclude: [String] = [], resources: [Resource]? = nil
) -> Target {
  .target(
    name: prefixed(name), dependencies: prefixed(dependencies), path: "Sources/\(name)", exclude: exclude,
    resources: resources, swiftSettings: strict)
}

func tests(_ name: String, _ dependencies: [String], resources: [Resource]? = nil) -> Target {
  .testTarget(
    name: name, dependencies: prefixed(dependencies), resources: resources, swiftSettings: strict)
}

// The arrows point one way: builder and server meet only in the store.
let package = Package(
  name: "ziggurat",
  products: [
    .library(name: "TileGeometry", targets: ["TileGeometry"]),
    .library(name: "TileStorage", targets: ["TileStorage"]),
    .library(name: "PyramidBuilding", targets: ["PyramidBuilding"]),
    .executable(name: "ziggurat", targets: ["ziggurat"]),
  ],
  targets: [
    c("CSandbox"),
    c("CCrypto", "libcrypto", "libssl-dev"),
    c("CCurl", "libcurl", "libcurl4-openssl-dev"),
    c("CDeflate", "libdeflate", "libdeflate-dev"),
    c("CExpat", "expat", "libexpat1-dev"),
    c("CFileSystems"),
    c("CGExiv2", "gexiv2", "libgexiv2-dev"),
    c("CHEIF", "libheif", "libheif-dev"),
    c("CISAL", "libisal", "libisal-dev"),
    c("CJPEG", "libjpeg", "libjpeg62-turbo-dev"),
    c("CJXL", "libjxl", "libjxl-dev"),
    c("CLCMS", "lcms2", "liblcms2-dev"),
    c("CMicroHTTPD", "libmicrohttpd", "libmicrohttpd-dev"),
    c("COpenJPEG", "libopenjp2", "libopenjp2-7-dev"),
    c("CPostgreSQL", "libpq", "libpq-dev"),
    c("CPoppler", "poppler-glib", "libpoppler-glib-dev"),
    c("CPopplerCore", "poppler", "libpoppler-private-dev"),
    c("CQREncode", "libqrencode", "libqrencode-dev"),
    c("CRSVG", "librsvg-2.0", "librsvg2-dev"),
    c("CSQLite", "sqlite3", "libsqlite3-dev"),
    c("CSeccomp", "libseccomp", "libseccomp-dev"),
    c("CSodium", "libsodium", "libsodium-dev"),
    c("CTIFF", "libtiff-4", "libtiff-dev"),
    c("CTurboJPEG", "libturbojpeg", "libturbojpeg0-dev"),
    c("CVips", "vips", "libvips-dev"),
    c("CWebP", "libwebp", "libwebp-dev"),
    c("CXXHash", "libxxhash", "libxxhash-dev"),
    // The targets with code in C and C++: see the top of their headers for why they cannot be Swift.
    .target(
      name: prefixed("CPDFContent"), dependencies: prefixed(["CPopplerCore"]), path: "Sources/C/CPDFContent"),
    .target(name: prefixed("CDICOM"), path: "Sources/C/CDICOM"),
    .target(name: prefixed("CRawPhoto"), path: "Sources/C/CRawPhoto"),
    .target(
      name: prefixed("CJPEGStream"), dependencies: prefixed(["CJPEG"]), path: "Sources/C/CJPEGStream",
      cSettings: [.define("_FORTIFY_SOURCE", to: "2", .when(configuration: .release))]),
    library("Sandbox", ["Concurrency", "CSandbox", "CSeccomp"]),
    library("Concurrency"),
    library("Files", ["CFileSystems", "CXXHash"]),
    library("Text"),
    library("TileGeometry"),
    library("TileStorage", ["Files", "Concurrency", "TileGeometry", "CDeflate", "CExpat"]),
    library("TileProtocols", ["HTTPMessages", "Text", "TileStorage", "TileGeometry"]),
    library(
      "PrivateSpaces", ["Files", "CSodium", "CCrypto", "TileStorage", "TileGeometry"], exclude: ["README.md"]),
    library(
      "Imaging",
      [
        "Sandbox", "Files", "TileStorage", "CVips", "CLCMS", "CHEIF", "CJXL", "COpenJPEG", "CDICOM",
        "CPDFContent", "CPoppler", "CRSVG", "CRawPhoto",
      ]),
    library("Metadata", ["Files", "Sandbox", "TileStorage", "CDeflate", "CGExiv2", "CHEIF"]),
    library(
      "PyramidBuilding",
      [
        "Files",
        "Concurrency",
        "CSandbox", "Sandbox", "Imaging", "Metadata", "TileStorage", "TileGeometry", "CDeflate", "CISAL",
        "CJPEGStream",
        "CTIFF",
        "CTurboJPEG", "CWebP",
        "CXXHash",
      ]),
    library(
      "TileRendering",
      [
        "Files", "CSandbox", "Sandbox", "Imaging", "TileProtocols", "TileStorage", "TileGeometry",
        "CJPEGStream",
        "CTurboJPEG",
      ]),
    library(
      "TileExport",
      ["Files", "Concurrency", "Text", "TileRendering", "TileProtocols", "TileStorage", "TileGeometry"]),
    library("Catalog", ["Files", "Concurrency", "CPostgreSQL", "CSQLite", "TileStorage", "TileGeometry"]),
    library(
      "TileServing",
      [
        "ImageLibrary",
        "Files",
        "Concurrency",
        "Catalog", "Sandbox", "HTTPMessages", "Metadata", "Text", "Uploading", "CQREncode",
        "TileProtocols", "TileRendering", "TileStorage", "TileGeometry", "CSodium",
      ], resources: [.embedInCode("Description/openapi.json")]),
    library(
      "ImageLibrary",
      ["Files", "Concurrency", "Catalog", "Metadata", "Uploading", "TileStorage", "TileGeometry"]),
    library(
      "ObjectStore",
      ["Files", "HTTPMessages", "Concurrency", "TileStorage", "TileGeometry", "CCurl", "CCrypto"]),
    library("Uploading", ["Files", "Concurrency", "TileStorage", "TileGeometry"]),
    library(
      "Adapters",
      [
        "Files", "Concurrency", "ImageLibrary", "ObjectStore", "PrivateSpaces", "PyramidBuilding",
        "TileProtocols", "TileRendering",
        "TileStorage", "TileGeometry", "Uploading",
      ]),
    library("HTTPMessages", ["Text", "CDeflate", "CXXHash"]),
    library(
      "HTTPServer",
      ["Files", "Concurrency", "HTTPMessages", "TileServing", "TileStorage", "CMicroHTTPD"]),
    .executableTarget(
      name: "ziggurat",
      dependencies: prefixed([
        "ImageLibrary",
        "CSandbox",
        "Files", "Adapters",
        "Concurrency",
        "Sandbox", "Imaging", "PyramidBuilding", "PrivateSpaces", "HTTPServer", "Uploading", "TileServing",
        "Catalog",
        "HTTPMessages", "Metadata", "ObjectStore", "Text", "TileProtocols", "TileRendering", "TileExport",
        "TileStorage", "TileGeometry",
      ]),
      swiftSettings: strict),
    .executableTarget(
      name: "ziggurat-sandbox-probe", dependencies: prefixed(["Sandbox", "CSandbox"]),
      path: "Tests/SandboxProbe",
      swiftSettings: strict),
    // As a program of another package: they see what is public alone.
    .executableTarget(
      name: "ziggurat-readme-example",
      dependencies: prefixed(["PyramidBuilding", "TileGeometry", "TileStorage"]),
      path: "Tests/ReadmeExample", packageAccess: false, swiftSettings: strict),
    .executableTarget(
      name: "ziggurat-library-example", dependencies: prefixed(["PyramidBuilding", "TileStorage"]),
      path: "Tests/LibraryExample", packageAccess: false,
      swiftSettings: strict + [.enableUpcomingFeature("MemberImportVisibility")]),
    tests("SandboxTests", ["Sandbox", "ziggurat-sandbox-probe", "TestSupport"]),
    .target(
      name: prefixed("TestSupport"), dependencies: prefixed(["Files"]), path: "Tests/TestSupport",
      swiftSettings: strict),
    .target(
      name: prefixed("RepositorySupport"),
      dependencies: prefixed(["Catalog", "Files", "ImageLibrary", "Metadata", "TileStorage"]),
      path: "Tests/RepositorySupport", swiftSettings: strict),
    .target(
      name: prefixed("ObjectStoreSupport"),
      dependencies: prefixed(["HTTPMessages", "ObjectStore", "Concurrency", "TestSupport"]),
      path: "Tests/ObjectStoreSupport", swiftSettings: strict),
    tests("FilesTests", ["Files", "TestSupport"]),
    tests("ImagingTests", ["Imaging", "PyramidBuilding", "Sandbox", "TestSupport"]),
    tests("TileGeometryTests", ["TileGeometry", "TestSupport"]),
    tests("TileStorageTests", ["Files", "TileStorage", "TileGeometry", "TestSupport"]),
    tests(
      "TileProtocolsTests", ["TileProtocols", "HTTPMessages", "TileStorage", "TileGeometry", "TestSupport"]),
    tests(
      "PrivateSpacesTests",
      ["Files", "PrivateSpaces", "CSodium", "TileStorage", "TileGeometry", "TestSupport"]),
    tests("CatalogTests", ["Files", "Catalog", "CSQLite", "TileStorage", "TileGeometry", "TestSupport"]),
    tests(
      "ImageLibraryTests",
      [
        "ImageLibrary", "Catalog", "CSQLite", "Files", "Metadata", "Concurrency", "TileStorage",
        "TileGeometry",
        "TestSupport",
      ]),
    tests(
      "AdaptersTests",
      [
        "Catalog", "Files", "ImageLibrary", "Adapters", "Metadata", "ObjectStore", "PrivateSpaces",
        "Concurrency",
        "TileStorage", "TileGeometry", "ObjectStoreSupport", "RepositorySupport", "TestSupport",
      ]),
    tests(
      "ObjectStoreTests",
      [
        "Files", "ObjectStore", "Concurrency", "TileStorage", "TileGeometry", "ObjectStoreSupport",
        "TestSupport",
      ]),
    tests("ConcurrencyTests", ["Concurrency"]),
    tests("UploadingTests", ["Files", "Uploading", "TestSupport"]),
    tests("MetadataTests", ["Files", "Metadata", "TileStorage", "TestSupport"]),
    tests(
      "PyramidBuildingTests",
      ["Files", "PyramidBuilding", "Catalog", "Imaging", "TileStorage", "TileGeometry", "TestSupport"]),
    tests(
      "TileExportTests",
      ["Files", "TileExport", "PyramidBuilding", "Imaging", "TileStorage", "TileGeometry", "TestSupport"]),
    tests(
      "ZigguratTests",
      [
        "Files", "HTTPServer", "Text", "TileServing", "ziggurat", "TileStorage", "TileGeometry",
        "TestSupport",
      ]),
    tests(
      "TileRenderingTests",
      [
        "Files",
        "TileRendering", "TileProtocols", "PyramidBuilding", "Imaging", "TileStorage", "TileGeometry",
        "TestSupport",
      ]),
    tests("HTTPMessagesTests", ["HTTPMessages", "TestSupport"]),
    tests(
      "HTTPServerTests",
      [
        "Files", "HTTPServer", "ImageLibrary", "Concurrency", "TileServing", "TileStorage", "TileGeometry",
        "TestSupport", "Uploading",
      ]),
    tests("TextTests", ["Text", "TestSupport"]),
    tests(
      "TileServingTests",
      [
        "ImageLibrary",
        "Files",
        "Concurrency", "Catalog", "PyramidBuilding",
        "HTTPMessages", "TileServing", "TileRendering", "TileProtocols", "TileStorage", "TileGeometry",
        "RepositorySupport", "TestSupport",
        "Uploading",
      ]),
  ],
  swiftLanguageModes: [.v6], cxxLanguageStandard: .cxx17
)

// The readers of `make fuzz`: a program there, since libFuzzer brings a main function along. Every other build compiles
// them as a library, so that they follow the code.
let readers = (
  name: "reader-fuzz",
  dependencies: prefixed([
    "PyramidBuilding", "TileRendering", "Metadata", "Sandbox", "Imaging", "TileStorage", "TileGeometry",
    "HTTPMessages", "TileProtocols", "TileServing", "ObjectStore", "Files", "CISAL",
  ]), path: "Tests/fuzz", exclude: ["fuzz", "seeds.py"]
)
package.targets.append(
  Context.environment["ZIGGURAT_FUZZ"] == nil
    ? .target(
      name: readers.name, dependencies: readers.dependencies, path: readers.path, exclude: readers.exclude,
      swiftSettings: strict)
    : .executableTarget(
      name: readers.name, dependencies: readers.dependencies, path: readers.path, exclude: readers.exclude,
      swiftSettings: strict + [.unsafeFlags(["-parse-as-library"])]))
